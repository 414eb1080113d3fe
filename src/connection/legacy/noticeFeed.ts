/** Owns who listens: what the server tells by itself, as the notices of a stream of our revision. It never promises to tell all. */
import { ConnectionError } from "../../errors.js";
import type { JsonObject } from "../../internal/json.js";
import type { ListenOptions } from "../types.js";

/** Who listens. */
export interface NoticeFeed {
  /** Lives until the signal aborts or the feed drops it. Acknowledges no task: that revision promises no notices. */
  listen(options: ListenOptions): Promise<void>;
  readonly isListened: boolean;
  /** Tells a state of a task. */
  tell(snapshot: JsonObject): void;
  /** The server said something. */
  alive(): void;
  /** Ends all, as a stream that drops. */
  drop(error: Error): void;
}

export function createNoticeFeed(onSilence: () => void): NoticeFeed {
  const listeners = new Map<ListenOptions, (error: unknown) => void>();
  return {
    listen(options) {
      return new Promise((_resolve, reject) => {
        const { signal } = options;
        if (signal.aborted) return reject(signal.reason as Error);
        const leave = (error: unknown): void => {
          signal.removeEventListener("abort", onAbort);
          listeners.delete(options);
          if (listeners.size === 0) onSilence();
          reject(error);
        };
        const onAbort = (): void => leave(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        listeners.set(options, leave);
        // As over a network: not before whoever listens has the promise.
        queueMicrotask(() => {
          if (!listeners.has(options)) return;
          options.onLife();
          options.onAcknowledged([]);
        });
      });
    },
    get isListened() {
      return listeners.size > 0;
    },
    tell(snapshot) {
      for (const { onLife, onNotice } of listeners.keys()) {
        onLife();
        onNotice({ method: "notifications/tasks", params: snapshot });
      }
    },
    alive() {
      for (const { onLife } of listeners.keys()) onLife();
    },
    drop(error) {
      for (const leave of [...listeners.values()]) leave(error);
    },
  };
}

/** What a session that ends does to a stream. */
export function streamDropped(): ConnectionError {
  return new ConnectionError("The session with the server ended", { mayHaveRun: false });
}
