/** Event streams are read alike however they are cut, in linear time, and within limits. */
import { describe, expect, it } from "vitest";
import { readEvents, type ReadEventsOptions, type ServerSentEvent } from "../../src/connection/sse.js";
import { InvalidResponseError } from "../../src/errors.js";

const encoder = new TextEncoder();

function streamOf(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks)
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });
}

async function collect(
  body: ReadableStream<Uint8Array>,
  options: ReadEventsOptions = {},
): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(body, options)) events.push(event);
  return events;
}

const RECORDED = [
  ": hello",
  "",
  "id: 1",
  "event: message",
  'data: {"text":"größe ✓ 🚆"}',
  "",
  "data: first line",
  "data: second line",
  "",
  "unknown: field",
  "retry: soon",
  "event: ping",
  "",
  "data:",
  "",
  "data: last",
  "",
  "",
];
const EVENTS: ServerSentEvent[] = [
  { event: "message", id: "1", data: '{"text":"größe ✓ 🚆"}' },
  { data: "first line\nsecond line" },
  { data: "last" },
];

describe("F088: line ends and chunk borders", () => {
  for (const [name, end] of [
    ["LF", "\n"],
    ["CR", "\r"],
    ["CRLF", "\r\n"],
  ] as const) {
    it(`gives the same events for ${name}, split at every byte`, async () => {
      const bytes = encoder.encode(RECORDED.join(end));
      for (let at = 0; at <= bytes.length; at += 1) {
        expect(await collect(streamOf(bytes.slice(0, at), bytes.slice(at))), `split at ${at}`).toEqual(
          EVENTS,
        );
      }
    });

    it(`gives the same events for ${name}, one byte at a time`, async () => {
      const bytes = encoder.encode(RECORDED.join(end));
      expect(await collect(streamOf(...[...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(EVENTS);
    });
  }

  it("gives the same events for mixed line ends", async () => {
    const ends = ["\n", "\r\n", "\r"];
    const text = RECORDED.map((line, i) => line + ends[i % 3]).join("");
    expect(await collect(streamOf(text))).toEqual(EVENTS);
  });

  it("gives an event that ends in CR at once, not with the next one", async () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
    controller?.enqueue(encoder.encode("data: now\r\r"));
    const events = readEvents(body);
    expect((await events.next()).value).toEqual({ data: "now" });
    await events.return();
  });
});

describe("F089: byte-order mark and multi-byte text", () => {
  it("strips a mark that is split over chunks, after an empty one", async () => {
    const body = streamOf("", Uint8Array.of(0xef, 0xbb), Uint8Array.of(0xbf), "data: x\n\n");
    expect(await collect(body)).toEqual([{ data: "x" }]);
  });

  it("keeps a mark inside the data", async () => {
    expect(await collect(streamOf("data: a\ufeffb\n\n"))).toEqual([{ data: "a\ufeffb" }]);
  });
});

describe("F091: frames without data", () => {
  it("reports comments and empty data as signs of life, never as events", async () => {
    const comments: string[] = [];
    const events = await collect(streamOf(": keepalive\n\n", "data:\n\n", "data: x\n\n"), {
      onComment: (comment) => comments.push(comment),
    });
    expect(events).toEqual([{ data: "x" }]);
    expect(comments).toEqual(["keepalive", ""]);
  });

  it("tells a watchdog of a named frame without data", async () => {
    let chunks = 0;
    const options = { onBytes: () => void (chunks += 1) };
    expect(await collect(streamOf(": keepalive\n\n", "data:\n\n", "event: ping\n\n"), options)).toEqual([]);
    expect(chunks).toBe(3);
  });

  it("drops an unfinished event at the end", async () => {
    expect(await collect(streamOf("data: a\n\ndata: b\n"))).toEqual([{ data: "a" }]);
    expect(await collect(streamOf("data: a\n\ndata: b"))).toEqual([{ data: "a" }]);
  });
});

describe("F092: size", () => {
  it("takes one event of 8 MiB in chunks of 1 KiB", async () => {
    const size = 8 * 1024 * 1024;
    let left = size;
    const filling = encoder.encode("x".repeat(1024));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode("data: ")),
      pull(controller) {
        if (left > 0) controller.enqueue(filling);
        else controller.enqueue(encoder.encode("\n\n"));
        if (left <= 0) controller.close();
        left -= filling.length;
      },
    });
    const events = await collect(body, { maxEventBytes: size + "data: ".length });
    expect(events[0]?.data.length).toBe(size);
  });

  it("reads many lines of either end in one chunk without going over it again and again", async () => {
    // One pass per line over the rest of this chunk would take minutes.
    const count = 1_000_000;
    for (const end of ["\r", "\n", "\r\n"]) {
      const events = await collect(streamOf(`:${end}`.repeat(count), `data: x${end}${end}`));
      expect(events).toEqual([{ data: "x" }]);
    }
  });

  for (const [name, portion] of [
    ["a line without an end", "x".repeat(64 * 1024)],
    ["an event without an end", `data: ${"x".repeat(1018)}\n`.repeat(64)],
  ] as const) {
    it(`stops ${name} at the limit, and cancels the source`, async () => {
      const limit = 1024 * 1024;
      let pulled = 0;
      let cancelled = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled += 1;
          controller.enqueue(encoder.encode(portion));
        },
        cancel: () => void (cancelled = true),
      });
      await expect(collect(body, { maxEventBytes: limit })).rejects.toThrow(InvalidResponseError);
      expect(cancelled).toBe(true);
      expect(pulled * portion.length).toBeLessThan(limit + 4 * portion.length);
    });
  }

  it("does not count what is over: small events add up to more than one may have", async () => {
    const events = await collect(
      streamOf(...Array.from({ length: 100 }, () => `data: ${"y".repeat(90)}\n\n`)),
      {
        maxEventBytes: 100,
      },
    );
    expect(events).toHaveLength(100);
  });

  it("refuses an event over the limit also when it comes in one portion", async () => {
    await expect(collect(streamOf(`data: ${"y".repeat(200)}\n\n`), { maxEventBytes: 100 })).rejects.toThrow(
      "limit of 100 bytes",
    );
  });

  it("limits the whole stream by maxBytes", async () => {
    const body = streamOf("data: a\n\n", "data: b\n\n", "data: c\n\n");
    await expect(collect(body, { maxBytes: 20 })).rejects.toThrow("limit of 20 bytes");
  });
});

describe("ending early", () => {
  it("cancels the source when the reader leaves", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode("data: a\n\n")),
      cancel: () => void (cancelled = true),
    });
    for await (const event of readEvents(body)) {
      expect(event.data).toBe("a");
      break;
    }
    expect(cancelled).toBe(true);
  });

  it("rejects with the signal's reason while the source is silent", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const reading = collect(new ReadableStream<Uint8Array>(), { signal: abort.signal });
    abort.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  it("rejects as the source does", async () => {
    const failure = new Error("reset");
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(failure) });
    await expect(collect(body)).rejects.toBe(failure);
  });
});
