/** Owns the server's state: tasks, answers, counters, and their durable file. It must not know HTTP or JSON-RPC. */
import { createHash, randomBytes } from "node:crypto";
import { canonicalJson, type JsonObject } from "../internal/json.js";
import { readStateFile, stateFile } from "./stateFile.js";
import { isGone, isTerminal, taskView, type Finish, type TaskView } from "./taskView.js";
import type { StoredTask, TaskStep, TaskTraits, TestCounters, TestTask } from "./types.js";

interface BookState {
  v: 1;
  /** Signs request states. */
  secret: string;
  created: number;
  calls: [tool: string, count: number][];
  tasks: StoredTask[];
}

/** What a new task is made of. */
export interface NewTask extends TaskTraits {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly principal: string | null;
  /** Null for tasks of a `run` tool. */
  readonly steps: readonly TaskStep[] | null;
}

/** What became of the values of one `tasks/update`. */
export interface UpdateOutcome {
  readonly applied: string[];
  /** Came again with the value that is applied. */
  readonly repeated: string[];
  /** Came again with another value; the first one stands. */
  readonly conflicting: string[];
  /** Not a key of an open question. */
  readonly ignored: string[];
}

export interface TaskBookOptions {
  readonly stateFile: string | undefined;
  readonly taskId: ((n: number) => string | undefined) | undefined;
  readonly pollIntervalMs: number;
  readonly ttlMs: number | null;
  readonly now: () => number;
  readonly finish: (tool: string) => Finish;
}

export type TaskBook = ReturnType<typeof taskBook>;

/** Opens the book; with a state file, on what an earlier process left in it. */
export function taskBook(options: TaskBookOptions) {
  const state = load(options.stateFile);
  const tasks = new Map(state.tasks.map((task) => [task.taskId, task]));
  const calls = new Map(state.calls);
  const file =
    options.stateFile === undefined
      ? undefined
      : stateFile(options.stateFile, () => ({ ...state, calls: [...calls], tasks: [...tasks.values()] }));
  let dirty = false;
  let lastSave: Promise<void> | undefined;
  const listeners = new Set<(task: StoredTask) => void>();

  function changed(task: StoredTask): void {
    dirty = true;
    for (const listener of listeners) listener(task);
  }

  function view(task: StoredTask): TaskView {
    return taskView(task, options.finish(task.tool), options.now());
  }

  function nextId(): string {
    const given = options.taskId?.(state.created);
    if (given !== undefined && !tasks.has(given)) return given;
    return randomBytes(24).toString("base64url");
  }

  return {
    secret: state.secret,
    view,
    changed,

    /** Waits until everything said so far is on disk; at once where there is no state file. */
    async flush(): Promise<void> {
      if (file === undefined) return;
      if (dirty) {
        dirty = false;
        lastSave = file.save();
      }
      await lastSave;
    },

    /** Called with each task that an answer, a cancel or a tool changed. Returns its stop. */
    onChange(listener: (task: StoredTask) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    countCall(tool: string): number {
      const earlier = calls.get(tool) ?? 0;
      calls.set(tool, earlier + 1);
      dirty = true;
      return earlier;
    },

    create(task: NewTask): StoredTask {
      const nowMs = options.now();
      const stored: StoredTask = {
        taskId: nextId(),
        tool: task.tool,
        arguments: task.arguments,
        principal: task.principal,
        createdAtMs: nowMs,
        ttlMs: firstDefined(byAnswer(task.ttls ?? null, 0), task.ttlMs, options.ttlMs),
        pollIntervalMs: task.intervals?.[0] ?? task.pollIntervalMs ?? options.pollIntervalMs,
        intervals: task.intervals ?? null,
        ttls: task.ttls ?? null,
        cancel: task.cancel ?? "honour",
        cancelLagMs: task.cancelLagMs ?? 0,
        steps: task.steps,
        live: task.steps === null ? { atMs: nowMs, asked: [] } : null,
        answers: [],
        cancelAtMs: null,
        polls: 0,
      };
      state.created += 1;
      tasks.set(stored.taskId, stored);
      dirty = true;
      return stored;
    },

    /** The task, unless it is unknown, over its time to live, or another principal's. */
    find(taskId: string, principal: string | null): StoredTask | undefined {
      const task = tasks.get(taskId);
      if (task === undefined || task.principal !== principal || isGone(task, options.now())) return undefined;
      return task;
    },

    /** The tool that made the task, whoever asks; for faults and the log. */
    toolOf: (taskId: string | undefined): string | undefined => tasks.get(taskId ?? "")?.tool,

    /** Counts a poll and moves the hints that change with every answer. */
    polled(task: StoredTask): void {
      task.polls += 1;
      task.pollIntervalMs = byAnswer(task.intervals, task.polls) ?? task.pollIntervalMs;
      const ttl = byAnswer(task.ttls, task.polls);
      if (ttl !== undefined) task.ttlMs = ttl;
    },

    update(task: StoredTask, responses: readonly (readonly [string, JsonObject])[]): UpdateOutcome {
      const outcome: UpdateOutcome = { applied: [], repeated: [], conflicting: [], ignored: [] };
      for (const [key, value] of responses) {
        const earlier = task.answers.find((answer) => answer.key === key);
        if (earlier !== undefined) {
          earlier.deliveries += 1;
          const same = canonicalJson(earlier.value) === canonicalJson(value);
          if (!same) earlier.conflicts.push(value);
          (same ? outcome.repeated : outcome.conflicting).push(key);
        } else if (view(task).open.some(([open]) => open === key)) {
          task.answers.push({ key, value, atMs: options.now(), deliveries: 1, conflicts: [] });
          outcome.applied.push(key);
        } else {
          outcome.ignored.push(key);
        }
      }
      if (responses.length > outcome.ignored.length) changed(task);
      return outcome;
    },

    cancel(task: StoredTask): void {
      if (task.cancelAtMs !== null || isTerminal(view(task).status)) return;
      task.cancelAtMs = options.now();
      changed(task);
    },

    all: (): readonly StoredTask[] => [...tasks.values()],

    describe(): TestTask[] {
      const nowMs = options.now();
      return [...tasks.values()].map((task) => {
        const { status, open } = view(task);
        return {
          taskId: task.taskId,
          tool: task.tool,
          arguments: task.arguments,
          status,
          gone: isGone(task, nowMs),
          createdAtMs: task.createdAtMs,
          polls: task.polls,
          cancelRequested: task.cancelAtMs !== null,
          openKeys: open.map(([key]) => key),
          answers: structuredClone(task.answers),
        };
      });
    },

    counters(): TestCounters {
      const answers = [...tasks.values()].flatMap((task) => task.answers);
      return {
        calls: Object.fromEntries(calls),
        tasksCreated: state.created,
        answersApplied: answers.length,
        answersConflicting: answers.reduce((sum, answer) => sum + answer.conflicts.length, 0),
      };
    },
  };
}

/** What is kept of a bearer token: enough to tell principals apart, useless to whoever reads the file. */
export function principalOf(token: string | undefined): string | null {
  return token === undefined ? null : createHash("sha256").update(token).digest("base64url");
}

function load(path: string | undefined): BookState {
  const read = path === undefined ? undefined : readStateFile(path);
  if (read !== undefined) return read as BookState;
  return { v: 1, secret: randomBytes(32).toString("base64url"), created: 0, calls: [], tasks: [] };
}

function firstDefined(...values: (number | null | undefined)[]): number | null {
  return values.find((value) => value !== undefined) ?? null;
}

function byAnswer<T>(list: readonly T[] | null, n: number): T | undefined {
  return list === null ? undefined : list[Math.min(n, list.length - 1)];
}
