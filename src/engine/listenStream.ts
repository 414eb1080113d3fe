/** Owns one stream of notices while it lives: its acknowledgement in time, its watchdog, its end. It decides nothing about the next one. */
import type { Connection, Notice } from "../connection/types.js";
import { createKeepAlives } from "./keepAlives.js";
import type { Scheduler } from "./scheduler.js";
import type { StreamEnd } from "./pushPolicy.js";
import type { EngineOptions } from "./types.js";

/** A stream that was opened. */
export interface ListenStream {
  /** What it was opened for. */
  readonly taskIds: ReadonlySet<string>;
  /** What the server accepted; undefined until it did. */
  readonly acknowledged: ReadonlySet<string> | undefined;
  /** Notices of tasks that were of use. */
  notices: number;
  /** True once something came after the acknowledgement: a notice, or a keep-alive. Until then it may be half-open. */
  readonly proven: boolean;
  /** Milliseconds since the acknowledgement. */
  readonly livedMs: number;
  /** Ends it; nothing is told afterwards. */
  close(): void;
}

/** What a stream tells. Nothing after `onEnd`. */
export interface StreamListener {
  onAcknowledged(stream: ListenStream): void;
  /** Something came after the acknowledgement. Once. */
  onProven(stream: ListenStream): void;
  onNotice(stream: ListenStream, notice: Notice): void;
  onEnd(stream: ListenStream, end: StreamEnd): void;
}

export function openListenStream(
  listen: NonNullable<Connection["listen"]>,
  taskIds: ReadonlySet<string>,
  context: {
    options: Pick<EngineOptions, "clock" | "clientInfo" | "capabilities" | "push">;
    scheduler: Scheduler;
    listener: StreamListener;
  },
): ListenStream {
  const { scheduler, listener } = context;
  const { clock, clientInfo, capabilities, push } = context.options;
  const closing = new AbortController();
  const watchKey = Symbol("stream");
  let acknowledged: ReadonlySet<string> | undefined;
  let acknowledgedAt = 0;
  let lastLifeAt = clock.monotonic();
  let proven = false;
  let over = false;
  const keepAlives = createKeepAlives(clock, push.idleMs);

  const stream: ListenStream = {
    taskIds,
    notices: 0,
    get acknowledged() {
      return acknowledged;
    },
    get proven() {
      return proven;
    },
    get livedMs() {
      return acknowledged === undefined ? 0 : clock.monotonic() - acknowledgedAt;
    },
    close: () => void leave(),
  };
  scheduler.schedule(watchKey, push.ackTimeoutMs, () => end({ kind: "silent" }));
  void run();
  return stream;

  async function run(): Promise<void> {
    try {
      await listen([...taskIds], {
        clientInfo,
        capabilities,
        signal: closing.signal,
        onLife() {
          lastLifeAt = clock.monotonic();
          keepAlives.sign();
          // The acknowledgement itself comes in pieces of the same moment.
          if (lastLifeAt > acknowledgedAt) prove();
        },
        onAcknowledged(ids) {
          if (over || acknowledged !== undefined) return;
          acknowledged = new Set(ids);
          acknowledgedAt = lastLifeAt = clock.monotonic();
          keepAlives.message();
          watch();
          listener.onAcknowledged(stream);
        },
        onNotice(notice) {
          keepAlives.message();
          prove();
          if (!over) listener.onNotice(stream, notice);
        },
      });
      end({ kind: "result" });
    } catch (error) {
      end({ kind: "failed", error });
    }
  }

  function prove(): void {
    if (over || proven || acknowledged === undefined) return;
    proven = true;
    listener.onProven(stream);
  }

  /** Life comes in at every byte: the timer is not moved each time, but looks when it fires. */
  function watch(): void {
    const limitMs = keepAlives.patienceMs;
    const quietMs = clock.monotonic() - lastLifeAt;
    if (quietMs >= limitMs) return end({ kind: "silent" });
    // The limit may come down as the server's rhythm shows: so it is looked at again before the longest one has passed.
    scheduler.schedule(watchKey, Math.min(limitMs - quietMs, keepAlives.leastMs), watch);
  }

  function end(how: StreamEnd): void {
    if (leave()) listener.onEnd(stream, how);
  }

  function leave(): boolean {
    if (over) return false;
    over = true;
    scheduler.cancel(watchKey);
    closing.abort(new DOMException("The stream is not needed any more", "AbortError"));
    return true;
  }
}
