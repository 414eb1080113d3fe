/** Owns one task at a simulated server: how it moves, what it asks, what it shows. It knows no network and no client. */
import type { JsonObject } from "../../src/internal/json.js";
import type { CallSpec, QuestionSpec } from "./scenario.js";
import type { Random } from "./random.js";
import { START_MS, type Time } from "./time.js";

/** A question as the server has it. */
export interface ServerQuestion {
  readonly key: string;
  request: JsonObject;
  /** How often it was put under its key, in other words each time. */
  edition: number;
  state: "open" | "answered";
  /** Answers that are acknowledged and then not taken. */
  losses: number;
  /** Answers that are refused with -32602. */
  refusals: number;
  /** An answer has come, whatever became of it. */
  wasAnswered: boolean;
}

export interface ServerTask {
  readonly spec: CallSpec;
  readonly taskId: string;
  readonly scope: string;
  readonly createdAt: number;
  readonly questions: Map<string, ServerQuestion>;
  status: string;
  statusMessage: string;
  /** By the world's time. */
  updatedAt: number;
  ttlMs: unknown;
  intervalMs: unknown;
  /** What was shown before, for reads that are behind. */
  readonly past: JsonObject[];
  cancelAsked: boolean;
  /** The server does not know it any more. */
  gone: boolean;
  /** How often the server said so. */
  saidGone: number;
}

/** A marker that every secret of a world bears. */
export const SECRET = "zq9secret";

const FORM: JsonObject = {
  type: "object",
  properties: { words: { type: "string" }, ok: { type: "boolean" } },
};

/** What a question looks like on the wire. */
export function requestOf({ key, kind }: Pick<QuestionSpec, "key" | "kind">, edition = 1): JsonObject {
  const words = edition === 1 ? "" : `, edition ${edition}`;
  switch (kind) {
    case "form":
      return {
        method: "elicitation/create",
        params: { mode: "form", message: `May I, ${key}?${words}`, requestedSchema: FORM },
      };
    case "url":
      return {
        method: "elicitation/create",
        params: {
          mode: "url",
          message: `See ${key}${words}`,
          url: `https://example.com/${key}`,
          elicitationId: key,
        },
      };
    case "sampling":
      return {
        method: "sampling/createMessage",
        params: {
          messages: [{ role: "user", content: { type: "text", text: `${key}${words}` } }],
          maxTokens: 10,
        },
      };
    case "roots":
      return { method: "roots/list" };
  }
}

/** Which edition of a question a text is of: a request on the wire, in the store, or as people see it. */
export function editionOf(asked: unknown): number {
  return Number(/, edition (\d+)/.exec(JSON.stringify(asked))?.[1] ?? 1);
}

/** The result that a call ends with. */
export function resultOf(spec: CallSpec): JsonObject {
  return {
    content: [{ type: "text", text: `result of ${spec.n}: ü€ 🚆` }],
    ...(spec.end === "isError" ? { isError: true } : {}),
  };
}

export const isTerminal = (status: string): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** Starts the task's life. `changed` is called after every change that a client could see. */
export function startTask(context: {
  readonly spec: CallSpec;
  readonly taskId: string;
  readonly scope: string;
  readonly time: Time;
  readonly random: Random;
  readonly hints: (task: ServerTask) => void;
  readonly changed: (task: ServerTask) => void;
  readonly asked: (task: ServerTask, question: ServerQuestion) => void;
}): ServerTask {
  const { spec, taskId, time } = context;
  const task: ServerTask = {
    spec,
    taskId,
    scope: context.scope,
    createdAt: time.now,
    questions: new Map(),
    status: "working",
    statusMessage: "begun",
    updatedAt: time.now,
    ttlMs: spec.ttlMs,
    intervalMs: spec.intervalMs,
    past: [],
    cancelAsked: false,
    gone: false,
    saidGone: 0,
  };
  let unasked = spec.questions.length;
  let isAlone = false;
  moves.set(task, { answered, cancel, reword });
  if (spec.endsAtOnce) end(task, endOf(spec));
  else time.after(spec.workMs, ask);
  return task;

  function move(change: () => void): void {
    if (isTerminal(task.status)) return;
    task.past.push(shown(task));
    if (task.past.length > 4) task.past.shift();
    change();
    context.hints(task);
    task.updatedAt = time.now;
    context.changed(task);
  }

  function ask(): void {
    if (spec.questions.length === 0) return rest();
    for (const question of spec.questions) time.after(question.afterMs, () => put(question));
  }

  function put({ key, kind }: QuestionSpec): void {
    unasked -= 1;
    if (isAlone) {
      if (unasked === 0) rest();
      return;
    }
    const request = requestOf({ key, kind });
    const question: ServerQuestion = {
      key,
      request,
      edition: 1,
      state: "open",
      losses: 0,
      refusals: 1,
      wasAnswered: false,
    };
    move(() => {
      question.losses = context.random.chance(0.5) ? 1 : 0;
      task.questions.set(key, question);
      task.status = "input_required";
      task.statusMessage = `asks ${key}`;
    });
    if (task.questions.has(key)) context.asked(task, question);
  }

  function reword(question: ServerQuestion): void {
    const asked = spec.questions.find(({ key }) => key === question.key);
    if (asked === undefined || task.questions.get(question.key) !== question) return;
    move(() => {
      question.edition += 1;
      question.request = requestOf(asked, question.edition);
      task.statusMessage = `asks ${question.key} in other words`;
    });
  }

  function rest(): void {
    if (spec.end === "never") return;
    time.after(spec.restMs, () => move(() => end(task, endOf(spec))));
  }

  /** Called by the server when an answer was taken. */
  function answered(): void {
    const open = [...task.questions.values()].some(({ state }) => state === "open");
    move(() => {
      task.status = open ? "input_required" : "working";
      task.statusMessage = open ? "asks more" : "goes on";
    });
    if (!open && unasked === 0) rest();
  }

  function goOnAlone(): void {
    isAlone = true;
    const isWaiting = [...task.questions.values()].some(({ state }) => state === "open");
    if (!isWaiting) return;
    task.questions.clear();
    answered();
  }

  function cancel(): void {
    if (task.cancelAsked) return;
    task.cancelAsked = true;
    if (spec.obeysCancel) time.after(1000, () => move(() => end(task, "cancelled")));
    // Nobody answers for a task that is to end: one that goes on does so without.
    else time.after(5000, goOnAlone);
  }
}

const moves = new WeakMap<ServerTask, Moves>();

interface Moves {
  answered(): void;
  cancel(): void;
  reword(question: ServerQuestion): void;
}

/** An answer was taken: the task goes on. */
export function taskAnswered(task: ServerTask): void {
  moves.get(task)?.answered();
}

/** The cancellation was asked for: the task may follow, or not. */
export function taskCancelled(task: ServerTask): void {
  moves.get(task)?.cancel();
}

/** Another question takes the place of an open one. */
export function taskRewords(task: ServerTask, question: ServerQuestion): void {
  moves.get(task)?.reword(question);
}

function endOf(spec: CallSpec): string {
  if (spec.end === "isError" || spec.end === "never") return "completed";
  return spec.end;
}

function end(task: ServerTask, status: string): void {
  task.status = status;
  task.statusMessage = `ended ${status}`;
  task.questions.clear();
}

/** The task as `tasks/get` shows it. */
export function shown(task: ServerTask): JsonObject {
  const open = [...task.questions.values()].filter(({ state }) => state === "open");
  return {
    resultType: "complete",
    taskId: task.taskId,
    status: task.status,
    statusMessage: task.statusMessage,
    createdAt: iso(task.createdAt),
    lastUpdatedAt: iso(task.updatedAt),
    ttlMs: task.ttlMs as number | null,
    ...(task.intervalMs === undefined ? {} : { pollIntervalMs: task.intervalMs as number }),
    ...(task.status === "input_required" && {
      inputRequests: Object.fromEntries(open.map(({ key, request }) => [key, request])),
    }),
    ...(task.status === "completed" && { result: resultOf(task.spec) }),
    ...(task.status === "failed" && { error: { code: -32050, message: `task ${task.spec.n} failed` } }),
  };
}

/** The server's clock is not the client's. */
function iso(at: number): string {
  return new Date(START_MS - 86_400_000 + at).toISOString();
}
