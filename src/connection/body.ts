/** Owns reading a body within a limit. Whatever happens, the body is cancelled or at its end afterwards. */
import { InvalidResponseError } from "../errors.js";

/** How much may be read, and until when. */
export interface ReadOptions {
  /** Bytes after decompression. More of them end in `InvalidResponseError`. */
  readonly maxBytes: number;
  /** Ends the reading with the signal's own reason, also while the other side is silent. */
  readonly signal?: AbortSignal | undefined;
}

/** The chunks of a body as they come. Rejects as the body does, and as {@link ReadOptions} says. */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  { maxBytes, signal }: ReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  // A cancelled stream settles the read that is pending: nothing else reaches a silent one.
  const onAbort = (): void => cancel(reader, signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  let total = 0;
  let ended = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      ended = done;
      if (done) return;
      total += value.byteLength;
      if (total > maxBytes)
        throw new InvalidResponseError(`The answer is larger than the limit of ${maxBytes} bytes`);
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    if (!ended) cancel(reader);
  }
}

/** The whole body as text, without a byte-order mark. */
export async function readText(
  body: ReadableStream<Uint8Array> | null | undefined,
  options: ReadOptions,
): Promise<string> {
  if (!body) return "";
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const chunk of readChunks(body, options)) parts.push(decoder.decode(chunk, { stream: true }));
  parts.push(decoder.decode());
  return parts.join("");
}

const LINE_FEED = 10;
const RETURN = 13;

/**
 * The body for a reader that knows no limit: it breaks off with `InvalidResponseError` where more comes. `each`: what
 * may be so large, the body as a whole, or one event of a stream of server-sent events.
 */
export function limitedBody(
  body: ReadableStream<Uint8Array>,
  { maxBytes, each }: { maxBytes: number; each: "body" | "event" },
): ReadableStream<Uint8Array> {
  let size = 0;
  let line = 0;
  let last = 0;

  /** Counts a chunk; an empty line ends an event. */
  function count(chunk: Uint8Array): void {
    let at = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, at)) {
      const before = end > 0 ? chunk[end - 1] : last;
      line += end - at;
      const isEmpty = line === 0 || (line === 1 && before === RETURN);
      size = isEmpty ? 0 : size + line + 1;
      check(size);
      line = 0;
      at = end + 1;
    }
    line += chunk.byteLength - at;
    last = chunk[chunk.byteLength - 1] ?? last;
    check(size + line);
  }

  function check(bytes: number): void {
    if (bytes > maxBytes)
      throw new InvalidResponseError(`The answer is larger than the limit of ${maxBytes} bytes`);
  }

  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (each === "event") count(chunk);
        else check((size += chunk.byteLength));
        controller.enqueue(chunk);
      },
    }),
  );
}

/** Lets go of a body that nobody will read. */
export function discardBody(body: ReadableStream<Uint8Array> | null | undefined): void {
  // A locked body has a reader, which cancels it.
  if (body && !body.locked) body.cancel().catch(() => undefined);
}

function cancel(reader: ReadableStreamDefaultReader<Uint8Array>, reason?: unknown): void {
  // Nobody waits for it: a broken stream may reject it, or never settle it.
  reader.cancel(reason).catch(() => undefined);
}
