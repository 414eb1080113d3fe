/** Owns one page's stream of events: bounded, kept alive, ended in time and with the right to see it. What a slow page missed becomes one fresh snapshot. */
import type { Clock, StopTimer } from "../internal/clock.js";
import type { Feed, FeedReader } from "./feed.js";

/** More changes, or more bytes of them, than this are not kept for a page that does not read: it starts afresh. */
const MAX_PENDING = 256;
const MAX_PENDING_CHARS = 1024 * 1024;
/** What is handed over before the page has taken it. */
const BUFFER_BYTES = 16 * 1024;

/** What a stream needs. */
export interface FeedStreamOptions {
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly maxStreamMs: number;
  readonly reauthorizeMs: number;
  /** Whether whoever opened the stream may still see it. Never rejects. */
  readonly isStillAllowed: () => Promise<boolean>;
  /** The request's: aborts when the page is gone. Some runtimes have none, and cancel the stream. */
  readonly signal: AbortSignal | undefined;
}

/** Joins the feed and answers its events as bytes. Rejects as `feed.join` does. */
export async function openStream(
  feed: Feed,
  options: FeedStreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const { clock, keepAliveMs, maxStreamMs, reauthorizeMs, isStillAllowed, signal } = options;
  const encoder = new TextEncoder();
  /** By call: only the newest state counts. */
  const pending = new Map<string, string>();
  let pendingChars = 0;
  let fresh = true;
  let over = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const membership: { leave?: () => void } = {};
  const timers: { beat?: StopTimer; limit?: StopTimer; check?: StopTimer } = {};

  const reader: FeedReader = {
    changed(id, text) {
      if (over || fresh) return;
      pendingChars += text.length - (pending.get(id)?.length ?? 0);
      pending.set(id, text);
      if (pending.size > MAX_PENDING || pendingChars > MAX_PENDING_CHARS) restart();
      else flush();
    },
    restart,
    ended: finish,
  };

  function restart(): void {
    pending.clear();
    pendingChars = 0;
    fresh = true;
    flush();
  }

  function flush(): void {
    while (!over && hasRoom() && (fresh || pending.size > 0)) {
      if (fresh) {
        fresh = false;
        for (const bytes of feed.snapshot()) controller?.enqueue(bytes);
        continue;
      }
      const [next] = pending;
      if (next === undefined) return;
      pending.delete(next[0]);
      pendingChars -= next[1].length;
      send(next[1]);
    }
  }

  function hasRoom(): boolean {
    return (controller?.desiredSize ?? 0) > 0;
  }

  function send(text: string): void {
    controller?.enqueue(encoder.encode(text));
  }

  function beat(): void {
    timers.beat = clock.setTimer(keepAliveMs, () => {
      if (hasRoom()) send(":\n\n");
      beat();
    });
  }

  /** Asks again and again. No answer until it is time to ask again counts as a refusal. */
  function check(): void {
    timers.check = clock.setTimer(reauthorizeMs, () => {
      timers.check = clock.setTimer(reauthorizeMs, finish);
      void isStillAllowed().then((isAllowed) => {
        if (over) return;
        timers.check?.();
        if (isAllowed) check();
        else finish();
      });
    });
  }

  /** Ends the stream. A page that takes nothing would keep its end waiting too: that one is broken off. */
  function finish(): void {
    if (over) return;
    const isTaken = hasRoom();
    stop();
    if (isTaken) controller?.close();
    else controller?.error(new DOMException("The page does not read its stream", "AbortError"));
  }

  function stop(): void {
    over = true;
    timers.beat?.();
    timers.limit?.();
    timers.check?.();
    signal?.removeEventListener("abort", finish);
    pending.clear();
    membership.leave?.();
  }

  membership.leave = await feed.join(reader);
  if (signal?.aborted === true) over = true;
  if (over) {
    membership.leave();
    return new ReadableStream({ start: (closed) => closed.close() });
  }
  return new ReadableStream<Uint8Array>(
    {
      start(created) {
        controller = created;
        signal?.addEventListener("abort", finish, { once: true });
        timers.limit = clock.setTimer(maxStreamMs, finish);
        beat();
        check();
        flush();
      },
      pull: flush,
      cancel: stop,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  );
}
