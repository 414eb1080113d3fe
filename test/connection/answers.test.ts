/** What a server may answer over HTTP, and what each answer becomes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpConnection } from "../../src/connection/http.js";
import type { HttpConnectionOptions } from "../../src/connection/httpOptions.js";
import type { Notice } from "../../src/connection/types.js";
import {
  ConnectionError,
  EraNotSupportedError,
  InvalidResponseError,
  MissingCapabilityError,
  RpcError,
  TaskNotFoundError,
} from "../../src/errors.js";
import type { JsonObject } from "../../src/internal/json.js";
import { startRawServer, type RawServer, type ScriptedResponse } from "../helpers/rawServer.js";
import { errorText, json, rejection, requestOptions, resultText, sse, SSE_HEADERS } from "./support.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.stop());

let paths = 0;
async function url(...responses: ScriptedResponse[]): Promise<string> {
  paths += 1;
  return server.script(`/answers/${paths}`, ...responses);
}

async function ask(
  responses: ScriptedResponse | ScriptedResponse[],
  options: {
    method?: string;
    params?: JsonObject;
    connection?: HttpConnectionOptions;
    onNotice?: (notice: Notice) => void;
  } = {},
): Promise<JsonObject> {
  const connection = httpConnection(await url(...[responses].flat()), options.connection);
  const { method = "tools/call", params = { name: "t" }, onNotice } = options;
  return connection.request(method, params, { ...requestOptions, onNotice });
}

describe("answers", () => {
  const result = { content: [{ type: "text", text: "größe ✓" }], extra: 1 };
  const line = resultText(result);

  it("reads JSON, with and without a byte-order mark and a charset", async () => {
    expect(await ask(json(line))).toEqual(result);
    expect(
      await ask(json(`\ufeff${line}`, 200, { "content-type": "application/json; charset=utf-8" })),
    ).toEqual(result);
  });

  for (const [name, end] of [
    ["LF", "\n"],
    ["CR", "\r"],
    ["CRLF", "\r\n"],
  ] as const) {
    it(`reads an event stream with ${name}, sent byte by byte after a mark and keep-alives`, async () => {
      const text = ["\ufeff: hi", "", "event: message", `data: ${line}`, "", ""].join(end);
      expect(await ask(sse({ everyByte: text }))).toEqual(result);
    });
  }

  it("takes the answer without waiting for the stream's end, and lets go of the stream", async () => {
    const target = await url(sse({ text: `data: ${line}\n\n` }, { hang: true }));
    expect(await httpConnection(target).request("tools/call", { name: "t" }, requestOptions)).toEqual(result);
    const path = new URL(target).pathname;
    await expect.poll(async () => (await server.log(path))[0]?.closed).toBe(true);
  });

  it("hands notices over in order, and ignores server-to-client requests and foreign event types", async () => {
    const seen: Notice[] = [];
    const notice = (n: number): string =>
      `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: n } })}\n\n`;
    const asking = `data: ${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "elicitation/create", params: {} })}\n\n`;
    const answered = await ask(
      sse(
        { text: notice(1) },
        { text: asking },
        { text: "event: ping\ndata: not json\n\n" },
        { text: notice(2) + `data: ${line}\n\n` },
      ),
      { onNotice: (given) => seen.push(given) },
    );
    expect(answered).toEqual(result);
    expect(seen.map(({ params }) => params["progress"])).toEqual([1, 2]);
  });

  it("keeps own keys like __proto__ without touching prototypes", async () => {
    const answered = await ask(json(`{"jsonrpc":"2.0","id":"{{id}}","result":{"__proto__":{"polluted":1}}}`));
    expect(Object.hasOwn(answered, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("readable but wrong answers are InvalidResponseError, never a hang", () => {
  const line = resultText({ content: [] });
  const cases: [string, ScriptedResponse][] = [
    ["HTML", { headers: { "content-type": "text/html" }, steps: [{ text: "<html>secret-token</html>" }] }],
    ["no content type", { steps: [{ text: line }] }],
    ["malformed JSON", json("{ secret-token")],
    ["a JSON array", json(`[${line}]`)],
    ["neither result nor error", json(`{"jsonrpc":"2.0","id":"{{id}}"}`)],
    ["a result that is no object", json(resultText("secret-token"))],
    ["an error without a code", json(errorText("secret-token"))],
    ["another id", json(`{"jsonrpc":"2.0","id":"other","result":{}}`)],
    ["an id of another type", json(`{"jsonrpc":"2.0","id":1,"result":{}}`)],
    ["an error with another id", json(errorText({ code: -32603, message: "x" }, "other"))],
    ["a request", json(`{"jsonrpc":"2.0","id":"{{id}}","method":"ping"}`)],
    ["another id on a stream", sse({ text: `data: {"jsonrpc":"2.0","id":"other","result":{}}\n\n` })],
    ["malformed JSON on a stream", sse({ text: "data: { secret-token\n\n" })],
    ["202", { status: 202 }],
    ["202 on a stream", { status: 202, headers: SSE_HEADERS }],
    ["204", { status: 204 }],
  ];
  for (const [name, response] of cases) {
    it(name, async () => {
      const error = await rejection(ask(response));
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(String((error as Error).stack)).not.toContain("secret-token");
      expect((error as Error).cause).toBeUndefined();
    });
  }
});

describe("answers that broke off are ConnectionError, and the call may have run", () => {
  const line = resultText({ content: [] });
  const cases: [string, ScriptedResponse][] = [
    ["an empty body", json("")],
    [
      "a body cut short",
      {
        headers: { "content-type": "application/json" },
        steps: [{ text: line.slice(0, 9) }, { destroy: true }],
      },
    ],
    ["a stream that ends empty", sse()],
    ["a stream that ends after a comment", sse({ text: ": hi\n\n" })],
    ["a stream that ends inside the answer", sse({ text: `data: ${line}\n` })],
    ["a stream that is reset", sse({ text: `data: ${line}` }, { destroy: true })],
    ["a connection that is reset", { destroy: true }],
  ];
  for (const [name, response] of cases) {
    it(name, async () => {
      const error = await rejection(ask(response));
      expect(error).toBeInstanceOf(ConnectionError);
      expect((error as ConnectionError).mayHaveRun).toBe(true);
    });
  }
});

describe("the size limit (F178)", () => {
  const limit = 64 * 1024;

  it("stops 100 MB of JSON at the limit, names it, and lets go of the body", async () => {
    const target = await url({
      headers: { "content-type": "application/json" },
      steps: [{ repeat: { text: "x".repeat(1024), perWrite: 100, writes: 1000 } }],
    });
    const connection = httpConnection(target, { maxResponseBytes: limit });
    const error = await rejection(connection.request("tools/list", {}, requestOptions));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect((error as Error).message).toContain(`limit of ${limit} bytes`);
    await expect.poll(async () => (await server.log(new URL(target).pathname))[0]?.closed).toBe(true);
  });

  it("stops at 16 MiB by default (F092: an unterminated line of 64 MiB)", async () => {
    const line = { repeat: { text: "x".repeat(1024), perWrite: 64, writes: 1024 } };
    await expect(ask(sse({ text: "data: " }, line))).rejects.toThrow("limit of 16777216 bytes");
  });

  it("counts what a compressed body unfolds to", async () => {
    const { gzipSync } = await import("node:zlib");
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024, 0x20)).toString("base64");
    const response: ScriptedResponse = {
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      steps: [{ base64: bomb }],
    };
    await expect(ask(response, { connection: { maxResponseBytes: limit } })).rejects.toThrow(
      `limit of ${limit} bytes`,
    );
  });

  it("counts a whole stream, not only its events", async () => {
    const notice = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: {} })}\n\n`;
    const response = sse({ repeat: { text: notice, perWrite: 100, writes: 1000 } });
    await expect(ask(response, { connection: { maxResponseBytes: limit } })).rejects.toThrow(
      `limit of ${limit} bytes`,
    );
  });

  it("lets an answer of exactly the limit pass", async () => {
    const text = resultText({ content: [] }).replaceAll("{{id}}", "mcp-taskrail-1");
    expect(await ask(json(text), { connection: { maxResponseBytes: text.length } })).toEqual({ content: [] });
    await expect(ask(json(text), { connection: { maxResponseBytes: text.length - 1 } })).rejects.toThrow(
      "limit",
    );
  });

  it("takes a huge error page for no more than its status", async () => {
    const page = { repeat: { text: "x".repeat(1024), perWrite: 64, writes: 100 } };
    const error = await rejection(ask({ status: 502, steps: [page] }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as ConnectionError).status).toBe(502);
  });
});

describe("JSON-RPC errors", () => {
  for (const status of [200, 400, 404, 500]) {
    it(`with HTTP ${status} are RpcError with code, data and status`, async () => {
      const error = await rejection(
        ask(json(errorText({ code: -32050, message: "no", data: { a: 1 } }), status)),
      );
      expect(error).toBeInstanceOf(RpcError);
      expect(error).toMatchObject({ rpcCode: -32050, message: "no", data: { a: 1 }, status });
    });
  }

  it("come on streams, and without an id where the server could not read it", async () => {
    const text = errorText({ code: -32700, message: "parse" }, null);
    expect(await rejection(ask(sse({ text: `data: ${text}\n\n` })))).toMatchObject({ rpcCode: -32700 });
    expect(await rejection(ask(json(text, 400)))).toMatchObject({ rpcCode: -32700, status: 400 });
  });

  it("-32602 is TaskNotFoundError on tasks/get alone (F122: also with HTTP 404)", async () => {
    const error = { code: -32602, message: "unknown" };
    const get = { method: "tasks/get", params: { taskId: "task-0001" } };
    expect(await rejection(ask(json(errorText(error)), get))).toBeInstanceOf(TaskNotFoundError);
    expect(await rejection(ask(json(errorText(error), 404), get))).toBeInstanceOf(TaskNotFoundError);
    const onCall = await rejection(ask(json(errorText(error))));
    expect(onCall).toBeInstanceOf(RpcError);
    expect(onCall).not.toBeInstanceOf(TaskNotFoundError);
  });

  it("F005: -32021 and -32003 are one MissingCapabilityError, after one request", async () => {
    const data = { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };
    for (const code of [-32021, -32003]) {
      const target = await url(json(errorText({ code, message: "declare it", data }), 400));
      const connection = httpConnection(target);
      const error = await rejection(connection.request("tasks/get", { taskId: "task-0001" }, requestOptions));
      expect(error).toBeInstanceOf(MissingCapabilityError);
      expect(error).toMatchObject({ rpcCode: code, data });
      expect(await server.log(new URL(target).pathname)).toHaveLength(1);
    }
  });

  it("-32003 without required capabilities is another server's own error", async () => {
    const error = await rejection(ask(json(errorText({ code: -32003, message: "mine" }))));
    expect(error).toBeInstanceOf(RpcError);
    expect(error).not.toBeInstanceOf(MissingCapabilityError);
  });

  it("show neither the task id nor the request state, however the server quotes them", async () => {
    const taskId = 'task-"ü"-0001';
    const wrapped = `=?base64?${Buffer.from(taskId).toString("base64")}?=`;
    const message = `no ${taskId}, nor ${JSON.stringify(taskId)}, header ${wrapped}`;
    const error = await rejection(
      ask(json(errorText({ code: -32602, message })), { method: "tasks/get", params: { taskId } }),
    );
    expect((error as Error).message).toBe(`no [task], nor "[task]", header [hidden]`);
    const onCall = await rejection(
      ask(json(errorText({ code: -32602, message: "bad state s3cr3t!" })), {
        params: { name: "t", requestState: "s3cr3t" },
      }),
    );
    expect((onCall as Error).message).toBe("bad state [state]!");
  });
});

describe("the era of the server", () => {
  it("-32022 is EraNotSupportedError with the versions it names", async () => {
    const data = { supported: ["2025-11-25"], requested: "2026-07-28" };
    const error = await rejection(ask(json(errorText({ code: -32022, message: "v", data }), 400)));
    expect(error).toBeInstanceOf(EraNotSupportedError);
    expect((error as EraNotSupportedError).supported).toEqual(["2025-11-25"]);
  });

  it("-32022 by a server that lists this version is a plain RpcError", async () => {
    const data = { supported: ["2026-07-28"] };
    const error = await rejection(ask(json(errorText({ code: -32022, message: "v", data }), 400)));
    expect(error).toBeInstanceOf(RpcError);
  });

  const unrecognised: [string, ScriptedResponse["steps"]][] = [
    ["an empty body", []],
    ["plain text", [{ text: "Bad Request: session required" }]],
    ["an error that names no request", [{ text: errorText({ code: -32000, message: "Bad Request" }, null) }]],
    [
      "an error with an id of its own",
      [{ text: errorText({ code: -32600, message: "Bad" }, "server-error") }],
    ],
  ];
  for (const status of [400, 404, 405, 406, 415, 426]) {
    for (const [name, steps = []] of unrecognised) {
      it(`HTTP ${status} with ${name} at first: an older server`, async () => {
        const error = await rejection(ask({ status, steps }));
        expect(error).toBeInstanceOf(EraNotSupportedError);
        expect((error as Error).message).toContain("2026-07-28");
      });
    }
  }

  it("a server that has answered as a modern one is not suspected any more (F122)", async () => {
    const connection = httpConnection(
      await url(
        json(resultText({ content: [] })),
        { status: 404, headers: { "content-type": "text/html" }, steps: [{ text: "<h1>gone</h1>" }] },
        json(errorText({ code: -32001, message: "Session not found" }, null), 404),
      ),
    );
    const params = { taskId: "task-0001" };
    await connection.request("tasks/update", params, requestOptions);
    const html = await rejection(connection.request("tasks/get", params, requestOptions));
    expect(html).toBeInstanceOf(ConnectionError);
    expect(html).toMatchObject({ status: 404, mayHaveRun: true });
    const session = await rejection(connection.request("tasks/get", params, requestOptions));
    expect(session).toBeInstanceOf(RpcError);
    expect(session).toMatchObject({ rpcCode: -32001, status: 404 });
  });

  it("a 404 with -32601 is the method's, not the era's", async () => {
    const error = await rejection(ask(json(errorText({ code: -32601, message: "no such method" }), 404)));
    expect(error).toMatchObject({ rpcCode: -32601, status: 404 });
  });

  it("an error body that broke off proves nothing about the era", async () => {
    const error = await rejection(ask({ status: 400, steps: [{ text: "{" }, { destroy: true }] }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ status: 400 });
  });
});
