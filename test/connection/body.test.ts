import { describe, expect, test } from "vitest";
import { limitedBody, readText } from "../../src/connection/body.js";
import { InvalidResponseError } from "../../src/errors.js";

function bodyOf(chunks: readonly string[]): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const next = left.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(next));
    },
  });
}

function read(chunks: readonly string[], each: "body" | "event", maxBytes = 20): Promise<string> {
  return readText(limitedBody(bodyOf(chunks), { maxBytes, each }), { maxBytes: Infinity });
}

describe("a body with a limit", () => {
  test("passes what fits as it is, and breaks off where more comes", async () => {
    expect(await read(["0123456789", "0123456789"], "body")).toBe("01234567890123456789");
    await expect(read(["0123456789", "0123456789", "0"], "body")).rejects.toBeInstanceOf(
      InvalidResponseError,
    );
  });

  test.each(["\n", "\r\n"])("counts each event by itself, however it is cut (%j)", async (end) => {
    const stream = `data: 12345678${end}${end}`.repeat(50);
    for (let size = 1; size < 40; size += 1) {
      const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, i) =>
        stream.slice(i * size, (i + 1) * size),
      );
      expect(await read(chunks, "event")).toBe(stream);
    }
  });

  test("an event that is too large breaks off, in one line or in many", async () => {
    await expect(read(["data: 1\n\n", `data: ${"x".repeat(30)}`], "event")).rejects.toBeInstanceOf(
      InvalidResponseError,
    );
    await expect(read(["data: 1\n", "data: 2\n", "data: 3\n"], "event")).rejects.toBeInstanceOf(
      InvalidResponseError,
    );
  });
});
