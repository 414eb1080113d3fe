/** Owns the tasks of `run` tools: starts their functions, feeds them answers and cancels, keeps what they say. */
import { sleep, type Clock } from "../internal/clock.js";
import type { JsonObject } from "../internal/json.js";
import type { Registry } from "./registry.js";
import type { TaskBook } from "./taskBook.js";
import { text } from "./toolBasics.js";
import type { LiveState, RunContext, StoredTask, TestInputRequest, TestRpcError } from "./types.js";

export interface Runner {
  start(task: StoredTask): void;
  /** Runs everything again that an earlier process left unfinished. */
  resume(): void;
  /** Lets go of all functions; their tasks stay as they are. */
  stop(): void;
}

class TaskFailure extends Error {
  readonly error: TestRpcError;
  constructor(error: TestRpcError) {
    super(error.message);
    this.error = error;
  }
}

export function runner(deps: { book: TaskBook; registry: Registry; clock: Clock }): Runner {
  const { book, registry, clock } = deps;
  const waiting = new Map<string, Map<string, (answer: JsonObject) => void>>();
  const cancels = new Map<string, AbortController>();
  let stopped = false;

  const stopListening = book.onChange((task) => {
    const asks = waiting.get(task.taskId);
    for (const { key, value } of task.answers) {
      asks?.get(key)?.(value);
      asks?.delete(key);
    }
    if (task.cancelAtMs !== null && task.cancel === "honour") {
      cancels.get(task.taskId)?.abort(new Error("The task is to be cancelled"));
    }
  });

  function say(task: StoredTask, change: (live: LiveState) => void): void {
    if (stopped || task.live === null || task.live.end !== undefined) return;
    change(task.live);
    task.live.atMs = clock.now();
    book.changed(task);
  }

  function ask(
    task: StoredTask,
    key: string,
    request: TestInputRequest,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const answered = task.answers.find((answer) => answer.key === key);
    if (answered !== undefined) return Promise.resolve(answered.value);
    return new Promise((resolve, reject) => {
      const asks = waiting.get(task.taskId) ?? new Map<string, (answer: JsonObject) => void>();
      waiting.set(task.taskId, asks);
      asks.set(key, resolve);
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      if (task.live?.asked.every((one) => one.key !== key) === true) {
        say(task, (live) => live.asked.push({ key, request }));
      }
    });
  }

  async function run(task: StoredTask): Promise<void> {
    const body = registry.get(task.tool)?.run;
    const controller = new AbortController();
    cancels.set(task.taskId, controller);
    const { signal } = controller;
    if (task.cancelAtMs !== null) controller.abort(new Error("The task is to be cancelled"));
    const context: RunContext = {
      arguments: task.arguments,
      task: {
        taskId: task.taskId,
        progress: (message) =>
          say(task, (live) => {
            live.message = message;
          }),
      },
      ask: (key, request) => ask(task, key, request, signal),
      sleep: (ms) => sleep(clock, ms, { signal }),
      fail: (error) => {
        throw new TaskFailure(error);
      },
      signal,
    };
    try {
      const result = (await body?.(context)) ?? text("The tool is gone", undefined, true);
      say(task, (live) => (live.end = { result }));
    } catch (error) {
      say(task, (live) => (live.end = endOf(error, signal)));
    } finally {
      waiting.delete(task.taskId);
      cancels.delete(task.taskId);
    }
  }

  return {
    start(task) {
      void run(task);
    },
    resume() {
      for (const task of book.all()) if (task.live !== null && task.live.end === undefined) void run(task);
    },
    stop() {
      stopped = true;
      stopListening();
      for (const controller of cancels.values()) controller.abort(new Error("The server is closing"));
    },
  };
}

function endOf(error: unknown, signal: AbortSignal): NonNullable<LiveState["end"]> {
  if (error instanceof TaskFailure) return { error: error.error };
  if (signal.aborted) return { cancelled: true };
  return { result: text(error instanceof Error ? error.message : String(error), undefined, true) };
}
