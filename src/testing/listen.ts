/** Owns the streams of `subscriptions/listen`: what each was accepted for, its notices, its end. No polls, no log. */
import type { ServerResponse } from "node:http";
import type { Clock, StopTimer } from "../internal/clock.js";
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import { META_SUBSCRIPTION_ID } from "../protocol/constants.js";
import { openStream, writeEvent } from "./answers.js";
import type { StreamFault } from "./faults.js";
import { detailOf } from "./rpc.js";
import type { TaskBook } from "./taskBook.js";
import type { StoredTask } from "./types.js";

export interface ListenStreams {
  /** Opens a stream for the tasks of the filter that exist, and answers their ids. */
  open(stream: {
    readonly res: ServerResponse;
    readonly id: JsonValue;
    readonly params: JsonObject;
    readonly principal: string | null;
    readonly fault: StreamFault | undefined;
  }): readonly string[];
  /** How many are open. */
  readonly count: number;
  /** Ends all gracefully. */
  end(): void;
}

/** The ids that a request asks for. */
export function listenedIds(params: JsonObject): readonly string[] {
  const filter = params["notifications"];
  const ids = isObject(filter) ? filter["taskIds"] : undefined;
  return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === "string") : [];
}

export function listenStreams(deps: { book: TaskBook; clock: Clock; keepAliveMs: number }): ListenStreams {
  const { book, clock, keepAliveMs } = deps;
  const ends = new Set<() => void>();

  return {
    get count() {
      return ends.size;
    },
    open({ res, id, params, principal, fault = { kind: "stream" } }) {
      const tasks = listenedIds(params).flatMap((taskId) => book.find(taskId, principal) ?? []);
      const accepted = fault.accept === "none" ? [] : tasks;
      const ids = accepted.map(({ taskId }) => taskId);
      const stops: StopTimer[] = [];
      const send = (method: string, content: JsonObject): void =>
        writeEvent(res, {
          jsonrpc: "2.0",
          method,
          params: { ...content, _meta: { [META_SUBSCRIPTION_ID]: id } },
        });

      openStream(res, 200);
      if (fault.ack !== false) {
        send("notifications/subscriptions/acknowledged", { notifications: { taskIds: ids } });
      }
      if (fault.silent !== true) {
        for (const task of accepted) {
          stops.push(
            watch({ book, clock, task, notify: () => send("notifications/tasks", detailOf(book, task)) }),
          );
        }
        if (keepAliveMs > 0) stops.push(every(clock, keepAliveMs, () => void res.write(": keep-alive\n\n")));
      }

      const over = (): void => {
        ends.delete(end);
        for (const stop of stops.splice(0)) stop();
      };
      const end = (): void => {
        over();
        if (res.destroyed) return;
        writeEvent(res, {
          jsonrpc: "2.0",
          id,
          result: { resultType: "complete", _meta: { [META_SUBSCRIPTION_ID]: id } },
        });
        res.end();
      };
      res.on("close", over);
      ends.add(end);
      if (fault.endAfterMs !== undefined) {
        const cancelled = (): void => {
          over();
          send("notifications/cancelled", { requestId: id });
        };
        const close = { result: end, end: () => void res.end(), abort: () => void res.destroy(), cancelled };
        stops.push(clock.setTimer(fault.endAfterMs, close[fault.end ?? "abort"], { keepAlive: true }));
      }
      return ids;
    },
    end() {
      for (const end of [...ends]) end();
    },
  };
}

/** Calls `notify` whenever what a poll would show of the task has changed. Returns its stop. */
function watch(deps: { book: TaskBook; clock: Clock; task: StoredTask; notify: () => void }): StopTimer {
  const { book, clock, task, notify } = deps;
  let stopTimer: StopTimer = () => undefined;
  let shown = shape();

  function shape(): string {
    const { status, message, open } = book.view(task);
    return JSON.stringify([status, message, open.map(([key]) => key)]);
  }
  function look(): void {
    const now = shape();
    if (now !== shown) {
      shown = now;
      // What is told is on disk before, as with any answer.
      void book.flush().then(notify);
    }
    wait();
  }
  function wait(): void {
    stopTimer();
    const { nextAtMs } = book.view(task);
    if (nextAtMs !== Infinity)
      stopTimer = clock.setTimer(Math.max(1, nextAtMs - clock.now()), look, { keepAlive: true });
  }

  wait();
  const stopListening = book.onChange((changed) => {
    if (changed === task) look();
  });
  return () => {
    stopTimer();
    stopListening();
  };
}

function every(clock: Clock, ms: number, run: () => void): StopTimer {
  let stop: StopTimer = () => undefined;
  const again = (): void => {
    stop = clock.setTimer(ms, () => {
      run();
      again();
    });
  };
  again();
  return () => stop();
}
