/** Timeouts, aborts and close: they end requests at once, say so, and leave nothing behind. */
import { getEventListeners } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpConnection } from "../../src/connection/http.js";
import { ClientClosedError, ConnectionError, InvalidResponseError } from "../../src/errors.js";
import { startRawServer, type RawServer, type ScriptedResponse } from "../helpers/rawServer.js";
import { json, ManualClock, rejection, requestOptions, resultText, sse } from "./support.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.stop());

let paths = 0;
async function script(...responses: ScriptedResponse[]): Promise<string> {
  paths += 1;
  return server.script(`/lifetime/${paths}`, ...responses);
}

const arrived = (url: string): Promise<void> =>
  expect.poll(async () => (await server.log(new URL(url).pathname)).length).toBeGreaterThan(0);
const left = (url: string): Promise<void> =>
  expect.poll(async () => (await server.log(new URL(url).pathname))[0]?.closed).toBe(true);

const silent: [string, ScriptedResponse][] = [
  ["before the headers of the answer", { steps: [] }],
  [
    "inside a JSON body",
    { headers: { "content-type": "application/json" }, steps: [{ text: "{" }, { hang: true }] },
  ],
  ["on an event stream", sse({ text: ": hi\n\n" }, { hang: true })],
  ["inside an error body", { status: 500, steps: [{ text: "x" }, { hang: true }] }],
];

describe("the timeout", () => {
  for (const [name, response] of silent.slice(1)) {
    it(`ends a request that falls silent ${name}; the call may have run`, async () => {
      const clock = new ManualClock();
      const url = await script(response);
      const connection = httpConnection(url, { clock, timeoutMs: 5_000 });
      const failing = rejection(connection.request("tools/call", { name: "t" }, requestOptions));
      await arrived(url);
      clock.advance(4_999);
      expect(clock.pending).toBe(1);
      clock.advance(1);
      const error = await failing;
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({
        mayHaveRun: true,
        message: "No sign of life from the server for 5000 ms",
      });
      expect(clock.pending).toBe(0);
      await left(url);
    });
  }

  it("is 60 s by default, and the request's own where it has one", async () => {
    for (const [timeoutMs, expected] of [
      [undefined, 60_000],
      [1_000, 1_000],
    ] as const) {
      const clock = new ManualClock();
      const url = await script(sse({ hang: true }));
      const failing = rejection(
        httpConnection(url, { clock }).request("tools/call", { name: "t" }, { ...requestOptions, timeoutMs }),
      );
      await arrived(url);
      clock.advance(expected - 1);
      expect(clock.pending).toBe(1);
      clock.advance(1);
      expect((await failing) as Error).toMatchObject({
        message: `No sign of life from the server for ${expected} ms`,
      });
    }
  });

  it("tells that nothing was sent when it was the headers that took too long", async () => {
    const clock = new ManualClock();
    let asked = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (asked = resolve));
    const connection = httpConnection(server.origin, {
      clock,
      headers: () => {
        asked();
        return new Promise(() => undefined);
      },
    });
    const failing = rejection(connection.request("tools/call", { name: "t" }, requestOptions));
    await waiting;
    clock.advance(60_000);
    expect(await failing).toMatchObject({ mayHaveRun: false });
  });

  it("F023: progress starts it anew, so a call of 150 s with a timeout of 60 s succeeds", async () => {
    const progress = (n: number): string =>
      `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "{{id}}", progress: n } })}\n\n`;
    const url = await script(
      sse(
        { text: progress(1) },
        { gate: "f023-a" },
        { text: progress(2) },
        { gate: "f023-b" },
        {
          text: `data: ${resultText({ content: [] })}\n\n`,
        },
      ),
    );
    const clock = new ManualClock();
    const seen: unknown[] = [];
    const answering = httpConnection(url, { clock }).request(
      "tools/call",
      { name: "t" },
      { ...requestOptions, onNotice: (notice) => seen.push(notice.params["progress"]) },
    );
    await expect.poll(() => seen).toEqual([1]);
    clock.advance(50_000);
    await server.release("f023-a");
    await expect.poll(() => seen).toEqual([1, 2]);
    clock.advance(50_000);
    await server.release("f023-b");
    expect(await answering).toEqual({ content: [] });
    const [request] = await server.log(new URL(url).pathname);
    const sent = JSON.parse(request?.body ?? "") as {
      id: string;
      params: { _meta: Record<string, unknown> };
    };
    expect(sent.params._meta["progressToken"]).toBe(sent.id);
  });

  it("comments do not start it anew: a server that only keeps alive gives no answer", async () => {
    const url = await script(
      sse({ text: ": a\n\n" }, { gate: "comments" }, { text: ": b\n\n" }, { hang: true }),
    );
    const clock = new ManualClock();
    const failing = rejection(httpConnection(url, { clock }).request("tools/list", {}, requestOptions));
    await arrived(url);
    clock.advance(59_999);
    await server.release("comments");
    await server.log("/");
    clock.advance(1);
    expect(await failing).toBeInstanceOf(ConnectionError);
  });

  it("never comes with Infinity", async () => {
    const url = await script(json(resultText({ content: [] })));
    const clock = new ManualClock();
    const connection = httpConnection(url, { clock, timeoutMs: Infinity });
    const answering = connection.request("tools/list", {}, requestOptions);
    expect(clock.pending).toBe(0);
    expect(await answering).toEqual({ content: [] });
  });
});

describe("the caller's signal", () => {
  for (const [name, response] of silent.slice(1)) {
    it(`rejects with its own reason ${name}, and closes the stream`, async () => {
      const url = await script(response);
      const abort = new AbortController();
      const failing = rejection(
        httpConnection(url).request("tools/call", { name: "t" }, { ...requestOptions, signal: abort.signal }),
      );
      await arrived(url);
      const reason = { why: "the user left" };
      abort.abort(reason);
      expect(await failing).toBe(reason);
      expect(getEventListeners(abort.signal, "abort")).toEqual([]);
      await left(url);
    });
  }

  it("that has aborted already keeps the request from being sent", async () => {
    const url = await script(json(resultText({})));
    const reason = new Error("too late");
    const options = { ...requestOptions, signal: AbortSignal.abort(reason) };
    expect(await rejection(httpConnection(url).request("tools/list", {}, options))).toBe(reason);
    expect(await server.log(new URL(url).pathname)).toEqual([]);
  });

  it("reaches a fetch that ignores it, whose late answer is let go", async () => {
    let cancelled = false;
    let answer = (_: Response): void => undefined;
    const connection = httpConnection(server.origin, {
      fetch: () => new Promise<Response>((resolve) => (answer = resolve)),
    });
    const abort = new AbortController();
    const failing = rejection(
      connection.request("tools/list", {}, { ...requestOptions, signal: abort.signal }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort("enough");
    expect(await failing).toBe("enough");
    answer(new Response(new ReadableStream({ cancel: () => void (cancelled = true) })));
    await expect.poll(() => cancelled).toBe(true);
  });

  it("F158: has no listeners left after many requests, and no timers wait", async () => {
    const url = await script(json(resultText({ content: [] })));
    const abort = new AbortController();
    const clock = new ManualClock();
    const connection = httpConnection(url, { clock });
    for (let i = 0; i < 200; i += 1) {
      await connection.request("tools/list", {}, { ...requestOptions, signal: abort.signal });
    }
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe("close", () => {
  it("aborts what is in flight, and refuses what comes later", async () => {
    const clock = new ManualClock();
    const url = await script(sse({ hang: true }));
    const connection = httpConnection(url, { clock });
    const failing = [1, 2].map(() => rejection(connection.request("tools/list", {}, requestOptions)));
    await expect.poll(async () => (await server.log(new URL(url).pathname)).length).toBe(2);
    await connection.close();
    for (const error of await Promise.all(failing)) expect(error).toBeInstanceOf(ClientClosedError);
    expect(await rejection(connection.request("tools/list", {}, requestOptions))).toBeInstanceOf(
      ClientClosedError,
    );
    expect(await rejection(connection.discover(requestOptions))).toBeInstanceOf(ClientClosedError);
    expect(await server.log(new URL(url).pathname)).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });
});

describe("abandoned work", () => {
  it("leaves no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      const abort = new AbortController();
      const options = { ...requestOptions, signal: abort.signal };
      const urls = await Promise.all(silent.slice(1).map(([, response]) => script(response)));
      const failing = urls.map((url) => rejection(httpConnection(url).request("tools/list", {}, options)));
      await Promise.all(urls.map(arrived));
      abort.abort(new Error("leave"));
      await Promise.all(failing);
      const wrong = await script(sse({ text: "data: {}\n\n" }, { hang: true }));
      expect(await rejection(httpConnection(wrong).request("tools/list", {}, requestOptions))).toBeInstanceOf(
        InvalidResponseError,
      );
      await left(wrong);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});
