/**
 * Owns what the push tests in virtual time share: a scripted server that keeps tasks and streams, so that a test says
 * when what happens. It asserts nothing.
 */
import { ConnectionError } from "../../src/index.js";
import type { Connection, ListenOptions } from "../../src/connection/types.js";
import type { JsonObject } from "../../src/internal/json.js";
import {
  scriptedConnection,
  type ConnectionScript,
  type FakeClock,
  type ScriptedConnection,
} from "../../src/testing/index.js";
import { handle, rig, state, type Rig, type RigOptions } from "./support.js";

/** How often the server writes a comment. */
const KEEP_ALIVE_MS = 15_000;

/** What the server does with one `subscriptions/listen`. */
export interface ListenStep {
  /** Rejects at once. */
  readonly refuse?: Error;
  /** Ends at once with a result, unacknowledged. */
  readonly endsAtOnce?: true;
  /** Never acknowledged. */
  readonly unacknowledged?: true;
  /** Milliseconds until the acknowledgement. Default 20. */
  readonly ackAfterMs?: number;
  /** The ids that are accepted. Default: all. */
  readonly accept?: (taskIds: readonly string[]) => readonly string[];
  /** Drops so long after the acknowledgement. */
  readonly dropAfterMs?: number;
  /** Notices and comments are lost, as on a half-open connection. */
  readonly silent?: true;
}

/** A stream as the server sees it. */
export interface ServerStream {
  readonly taskIds: readonly string[];
  readonly openedAtMs: number;
  acknowledgedAtMs: number | undefined;
  closedAtMs: number | undefined;
  /** Pushes a notice as it stands, to this stream alone. */
  push(params: JsonObject): void;
  comment(): void;
  drop(error?: Error): void;
  end(): void;
}

export interface PushRig extends Rig {
  readonly streams: readonly ServerStream[];
  /** The newest stream. */
  readonly stream: ServerStream;
  readonly open: number;
  /** The most streams that were open at once. */
  readonly mostOpen: number;
  /** Changes the task at the server, and tells the streams that were acknowledged for it. */
  change(more: JsonObject, taskId?: string): void;
  /** The same, but no stream tells it. */
  changeQuietly(more: JsonObject, taskId?: string): void;
  /** What happens with the next streams; the last step stays. */
  script(...steps: ListenStep[]): void;
}

export interface PushRigOptions extends RigOptions {
  readonly hint?: number;
  readonly ttlMs?: number;
  /** How long an answer takes. Default 0. */
  readonly answerMs?: number;
  readonly calls?: ConnectionScript[string];
}

/** A server with push: tasks `task-0`, `task-1`… in the order of the calls. */
export async function pushRig(
  clock: FakeClock,
  steps: readonly ListenStep[] = [{}],
  options: PushRigOptions = {},
): Promise<PushRig> {
  const { hint = 5000, ttlMs = null, answerMs = 0, calls, ...rigOptions } = options;
  const book = new Map<string, JsonObject>();
  const streams: (ServerStream & { silent: boolean })[] = [];
  let script = [...steps];
  let used = 0;
  let mostOpen = 0;
  const wait = (ms: number): Promise<void> =>
    ms <= 0 ? Promise.resolve() : new Promise((resolve) => clock.setTimer(ms, resolve));
  const stateOf = (taskId: string): JsonObject =>
    state({ taskId, pollIntervalMs: hint, ttlMs, ...book.get(taskId) });
  const scripted = scriptedConnection(
    {
      "tools/call":
        calls ??
        ((_request, n) => {
          book.set(`task-${n}`, {});
          return handle({ taskId: `task-${n}`, pollIntervalMs: hint, ttlMs });
        }),
      "tasks/get": async ({ params }) => {
        const answer = stateOf(params["taskId"] as string);
        await wait(answerMs);
        return answer;
      },
      "tasks/update": { resultType: "complete" },
      "tasks/cancel": { resultType: "complete" },
    },
    { clock },
  );
  const isOpen = (stream: ServerStream): boolean => stream.closedAtMs === undefined;
  const openCount = (): number => streams.filter(isOpen).length;

  function listen(taskIds: readonly string[], told: ListenOptions): Promise<void> {
    const step = script[Math.min(used, script.length - 1)] ?? {};
    used += 1;
    return new Promise((resolve, reject) => {
      let stopComments = (): void => undefined;
      const keepAlive = (): void => {
        stopComments = clock.setTimer(KEEP_ALIVE_MS, () => {
          stream.comment();
          keepAlive();
        });
      };
      const close = (settle: () => void): void => {
        if (stream.closedAtMs !== undefined) return;
        stopComments();
        stream.closedAtMs = clock.monotonic();
        settle();
      };
      const stream: ServerStream & { silent: boolean } = {
        taskIds,
        silent: step.silent === true,
        openedAtMs: clock.monotonic(),
        acknowledgedAtMs: undefined,
        closedAtMs: undefined,
        push(params) {
          if (!isOpen(stream) || stream.silent) return;
          told.onLife();
          told.onNotice({ method: "notifications/tasks", params });
        },
        comment: () => (isOpen(stream) ? told.onLife() : undefined),
        drop: (error = new ConnectionError("dropped", { mayHaveRun: true })) => close(() => reject(error)),
        end: () => close(resolve),
      };
      streams.push(stream);
      mostOpen = Math.max(mostOpen, openCount());
      told.signal.addEventListener("abort", () => close(() => reject(told.signal.reason as Error)));
      const { refuse } = step;
      if (refuse !== undefined) return stream.drop(refuse);
      if (step.endsAtOnce === true) return stream.end();
      if (step.unacknowledged === true) return;
      void wait(step.ackAfterMs ?? 20).then(() => {
        if (!isOpen(stream)) return;
        const accepted = step.accept?.(taskIds) ?? taskIds;
        stream.acknowledgedAtMs = clock.monotonic();
        accepts.set(stream, new Set(accepted));
        if (!stream.silent) keepAlive();
        told.onLife();
        told.onAcknowledged(accepted);
        if (step.dropAfterMs !== undefined) void wait(step.dropAfterMs).then(() => stream.drop());
      });
    });
  }
  const accepts = new Map<ServerStream, ReadonlySet<string>>();
  const connection: ScriptedConnection & Connection = Object.assign(
    Object.create(scripted) as typeof scripted,
    {
      listen,
    },
  );
  const run = await rig({}, { ...rigOptions, clock, connection });

  const changeQuietly = (more: JsonObject, taskId = "task-0"): void =>
    void book.set(taskId, { ...book.get(taskId), ...more });
  return {
    ...run,
    streams,
    get stream() {
      return streams.at(-1)!;
    },
    get open() {
      return openCount();
    },
    get mostOpen() {
      return mostOpen;
    },
    changeQuietly,
    change(more: JsonObject, taskId = "task-0") {
      changeQuietly(more, taskId);
      for (const stream of streams) if (accepts.get(stream)?.has(taskId)) stream.push(stateOf(taskId));
    },
    script(...next: ListenStep[]) {
      script = next;
      used = 0;
    },
  };
}
