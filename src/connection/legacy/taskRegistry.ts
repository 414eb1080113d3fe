/** Owns which tasks are ours, and to which of them a message of the server belongs. */
import type { Clock } from "../../internal/clock.js";
import { isTooDeep, type JsonObject } from "../../internal/json.js";
import { RPC } from "../../protocol/index.js";
import { isQuestion, relatedTaskId } from "../../protocol/legacy.js";
import type { TaskWatch } from "./taskWatch.js";
import type { LegacyChannel, ServerRequest } from "./types.js";

/** A task that nobody asked for this long is not watched any more; it is found again when somebody does. */
const IDLE_MS = 3_600_000;
/** As above, where the server may wait for an answer: longer than any server can make us stay away. */
const OPEN_IDLE_MS = 25 * 3_600_000;
/** As above, for a task that is over: who was told so by a notice does not ask. */
const OVER_IDLE_MS = 60_000;
const SWEEP_EVERY_MS = 60_000;
/** Requests that wait for the handle of the task they may belong to. */
const MAX_HELD = 256;

/** The tasks of one connection. */
export interface TaskRegistry {
  /** The task's watch; a new one for a task that was not known. */
  of(taskId: string): TaskWatch;
  known(taskId: string): TaskWatch | undefined;
  /** The task is over, and whoever asked was told. */
  drop(taskId: string): void;
  /** Until the returned function is called, a call is under way that may become a task. */
  callStarted(): () => void;
  /** True where the request is, or may be, of a task of ours. */
  onRequest(request: ServerRequest): boolean;
  /** True where the request that is taken back was of a task of ours. */
  takeBack(id: string | number): boolean;
  sessionEnded(): void;
  /** Watches of tasks that are over. */
  dropOver(): void;
  close(): void;
}

export function createTaskRegistry(
  channel: LegacyChannel,
  clock: Clock,
  watch: (taskId: string) => TaskWatch,
): TaskRegistry {
  const tasks = new Map<string, { watch: TaskWatch; usedAt: number }>();
  let held: ServerRequest[] = [];
  let calls = 0;
  let sweptAt = clock.monotonic();

  function drop(taskId: string): void {
    tasks.get(taskId)?.watch.stop();
    tasks.delete(taskId);
  }

  function sweep(now: number): void {
    if (now - sweptAt < SWEEP_EVERY_MS) return;
    sweptAt = now;
    for (const [taskId, entry] of tasks) if (now - entry.usedAt > idleMs(entry.watch)) drop(taskId);
  }

  function idleMs({ isOver, isOpen }: TaskWatch): number {
    if (isOver) return OVER_IDLE_MS;
    return isOpen ? OPEN_IDLE_MS : IDLE_MS;
  }

  /** The handle of the call is known by now, where there is one: what is nobody's goes back. */
  function sortHeld(): void {
    const requests = held;
    held = [];
    for (const request of requests) if (!onRequest(request)) channel.release(request);
  }

  function onRequest(request: ServerRequest): boolean {
    const taskId = relatedTaskId(request.params);
    if (taskId === undefined || !isQuestion(request.method, request.params)) return false;
    const found = tasks.get(taskId);
    if (found !== undefined) return ask(found.watch, request);
    if (calls === 0 || held.length >= MAX_HELD) return false;
    held.push(request);
    return true;
  }

  function ask(found: TaskWatch, request: ServerRequest): true {
    for (const { watch: other } of tasks.values()) if (other !== found) other.disown(request.id);
    if (!isTooDeep(request.params)) found.ask(request);
    else {
      const error = { code: RPC.invalidParams, message: "The params are nested too deep to be used" };
      void channel.answer(request.id, { error }).catch(() => undefined);
    }
    return true;
  }

  return {
    of(taskId) {
      const now = clock.monotonic();
      sweep(now);
      const entry = tasks.get(taskId) ?? { watch: watch(taskId), usedAt: now };
      entry.usedAt = now;
      tasks.set(taskId, entry);
      return entry.watch;
    },
    known: (taskId) => tasks.get(taskId)?.watch,
    drop,
    callStarted() {
      calls += 1;
      return () => {
        calls -= 1;
        sortHeld();
      };
    },
    onRequest,
    takeBack(id) {
      const at = held.findIndex((request) => request.id === id);
      if (at >= 0) {
        held.splice(at, 1);
        return true;
      }
      return [...tasks.values()].some((entry) => entry.watch.takeBack(id));
    },
    sessionEnded() {
      held = [];
      for (const entry of tasks.values()) entry.watch.sessionEnded();
    },
    dropOver() {
      for (const [taskId, entry] of tasks) if (entry.watch.isOver) drop(taskId);
    },
    close() {
      held = [];
      for (const taskId of [...tasks.keys()]) drop(taskId);
    },
  };
}

/** The answers of a `tasks/update`, by key. */
export function inputResponsesOf(params: JsonObject): readonly (readonly [string, JsonObject])[] {
  const responses = params["inputResponses"];
  return typeof responses === "object" && responses !== null
    ? (Object.entries(responses) as [string, JsonObject][])
    : [];
}
