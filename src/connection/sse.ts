/**
 * Owns reading server-sent events from bytes: in time proportional to their number, holding at most one event. It
 * knows nothing of what the events mean, and reopens nothing.
 */
import { createParser } from "eventsource-parser";
import { InvalidResponseError } from "../errors.js";
import { readChunks } from "./body.js";

/** One event that has data. */
export interface ServerSentEvent {
  /** The event's type; absent where the stream names none (that stands for `message`). */
  readonly event?: string;
  readonly data: string;
  readonly id?: string;
}

/** How {@link readEvents} reads. */
export interface ReadEventsOptions {
  /**
   * The most that one line or one event may take. Counted in UTF-16 units, of which a text never has more than it
   * has bytes: what is refused is certainly larger. Default: no limit of its own.
   */
  readonly maxEventBytes?: number;
  /** The most that the whole stream may take, in bytes after decompression. Default: no limit. */
  readonly maxBytes?: number;
  /** Ends the reading with the signal's own reason, also while the other side is silent. */
  readonly signal?: AbortSignal | undefined;
  /** Called for every comment, and for events without data, which serve the same purpose: keeping alive. */
  readonly onComment?: ((comment: string) => void) | undefined;
  /** Called whenever bytes have come, whatever they say: what a watchdog on the stream waits for. */
  readonly onBytes?: (() => void) | undefined;
}

/** The parser looks ahead for both line ends; small portions keep that cheap, and the limits close. */
const PORTION = 16 * 1024;

/**
 * The events of a stream, in order, until it ends. An unfinished event at the end is dropped, as the format wants.
 * Rejects as the body does, and with `InvalidResponseError` when a limit is passed. Leaving the loop early cancels
 * the body.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  options: ReadEventsOptions = {},
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const { maxEventBytes = Infinity, maxBytes = Infinity, signal, onComment, onBytes } = options;
  const ready: ServerSentEvent[] = [];
  let tooLarge = false;
  const parser = createParser({
    ...(Number.isFinite(maxEventBytes) && { maxBufferSize: maxEventBytes }),
    onComment,
    onEvent({ event, data, id }) {
      // Several empty data lines, or blanks: no message has such a text.
      if (data.trimStart() === "") onComment?.("");
      else ready.push({ data, ...(event !== undefined && { event }), ...(id !== undefined && { id }) });
    },
    onError({ type }) {
      // Unknown fields and odd retry values are to be ignored.
      if (type === "max-buffer-size-exceeded") tooLarge = true;
    },
  });
  const decoder = new TextDecoder();
  const toLines = lineFeedsOnly();

  for await (const chunk of readChunks(body, { maxBytes, signal })) {
    onBytes?.();
    for (let at = 0; at < chunk.byteLength; at += PORTION) {
      const text = decoder.decode(chunk.subarray(at, at + PORTION), { stream: true });
      if (text !== "") parser.feed(toLines(text));
      // The parser measures only what it keeps: an event that ends within the portion is measured here.
      for (const event of ready.splice(0)) {
        if (event.data.length > maxEventBytes) tooLarge = true;
        else if (!tooLarge) yield event;
      }
      if (tooLarge)
        throw new InvalidResponseError(`An event is larger than the limit of ${maxEventBytes} bytes`);
    }
  }
}

/**
 * Turns CR and CRLF into LF, also where a chunk ends between the two. The parser by itself would hold back an event
 * that ends in CR until more comes.
 */
function lineFeedsOnly(): (text: string) => string {
  let endedInReturn = false;
  return (text) => {
    const rest = endedInReturn && text.startsWith("\n") ? text.slice(1) : text;
    endedInReturn = text.endsWith("\r");
    return rest.replace(/\r\n?/g, "\n");
  };
}
