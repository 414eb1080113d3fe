/** Owns the rest of promises 7 to 9: answers are for the question that was seen, they leave soon, policies keep their time, questions are withdrawn. */
import { isDeepStrictEqual } from "node:util";
import type { TaskInputRequest } from "../../../src/index.js";
import type { JsonObject } from "../../../src/internal/json.js";
import type { Question, TaskRecord } from "../../../src/task/record.js";
import { idOf } from "../disk.js";
import { Violation, type Invariant, type Observation, type ProcessView } from "../observation.js";
import { editionOf } from "../serverTask.js";
import { START_MS } from "../time.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function answerInvariants(world: World, ledger: Ledger): Invariant[] {
  return [
    storedForWhatWasSeen(),
    takenForWhatWasSeen(world, ledger),
    sentSoon(world),
    policiesAnswer(world, ledger),
    peopleComeFirst(world),
    withdrawnInTime(world),
  ];
}

type Wrote = Extract<Observation, { kind: "wrote" }>;
type Gave = Extract<Observation, { kind: "gave" }>;

/** Questions that have an answer now which they had not before. */
function newAnswers({ before, after }: Wrote): (Question & { response: JsonObject })[] {
  const known = new Map(before?.questions.map((question) => [question.key, question]));
  return (after?.questions ?? []).filter(
    (question): question is Question & { response: JsonObject } =>
      question.state === "answered" &&
      question.response !== undefined &&
      !isDeepStrictEqual(known.get(question.key)?.response, question.response),
  );
}

/** The answers that were given, by scope, call and key. */
function createAnswerBook(): {
  add(seen: Gave): void;
  of(id: string, key: string, response: unknown): Gave[];
} {
  const given = new Map<string, Gave[]>();
  return {
    add(seen) {
      const each = `${seen.process.scope}/${seen.id} ${seen.key}`;
      given.set(each, [...(given.get(each) ?? []), seen]);
    },
    of: (id, key, response) =>
      (given.get(`${id} ${key}`) ?? []).filter((one) => isDeepStrictEqual(one.response, response)),
  };
}

/** Nobody said this of this edition. */
function isForeign(answers: readonly Gave[], edition: number): boolean {
  if (answers.length === 0) return false;
  return answers.every((one) => one.edition !== undefined && one.edition !== edition);
}

/** P7: an answer is stored for the question that the person saw, however the server changed it meanwhile. */
function storedForWhatWasSeen(): Invariant {
  const name = "P7 an answer is for the question that was seen";
  const book = createAnswerBook();
  return {
    see(seen) {
      if (seen.kind === "gave") book.add(seen);
      if (seen.kind !== "wrote" || seen.after === undefined) return;
      for (const question of newAnswers(seen)) {
        const answers = book.of(idOf(seen.after), question.key, question.response);
        const edition = editionOf(question.params ?? question.message ?? "");
        if (isForeign(answers, edition))
          throw new Violation(name, `${question.key}: what was said to another edition answers ${edition}`);
      }
    },
  };
}

/** P7: what a process knows to be asked no more is not answered there. What the server changes on the way nobody can know. */
function takenForWhatWasSeen(world: World, ledger: Ledger): Invariant {
  const name = "P7 no answer goes to another question";
  const book = createAnswerBook();
  /** The edition that a process was shown last, and since when. */
  const known = new Map<string, { edition: number; at: number }>();
  const KNOWN_MS = 10_000;
  const learn = (process: ProcessView, state: JsonObject): void => {
    for (const [key, request] of Object.entries((state["inputRequests"] ?? {}) as JsonObject)) {
      const each = `${process.name} ${state["taskId"] as string} ${key}`;
      const edition = editionOf(request);
      if (known.get(each)?.edition !== edition) known.set(each, { edition, at: world.time.now });
    }
  };
  return {
    see(seen) {
      if (seen.kind === "gave") book.add(seen);
      if (seen.kind === "noticed") learn(seen.process, seen.snapshot);
      if (seen.kind === "ended" && seen.exchange.method === "tasks/get" && seen.end.kind === "answer") {
        if (seen.end.result !== undefined) learn(seen.process, seen.end.result);
      }
      if (seen.kind !== "took" || seen.asked === undefined) return;
      const { asked, key, sender } = seen;
      const last = known.get(`${sender.name} ${asked.taskId} ${key}`);
      if (last?.edition !== asked.edition || asked.sentAt - last.at < KNOWN_MS) return;
      if (sender.sleepsUntil > 0 || ledger.failed(sender, "*")) return;
      const answers = [...ledger.call(seen.n).ids].flatMap((id) => book.of(id, key, seen.response));
      if (isForeign(answers, asked.edition))
        throw new Violation(name, `${key}: the server takes it for edition ${asked.edition}, known long ago`);
    },
  };
}

/**
 * P8: an answer leaves though other questions wait: who stored it, and has its polls of the task answered since, has sent
 * it as well.
 */
function sentSoon(world: World): Invariant {
  const name = "P8 an answer is sent though others are open";
  /** Where an earlier answer is being sent, its backoff comes first. */
  const [SOON_MS, AFTER_OTHERS_MS] = [5000, 180_000];
  const POLLS = 2;
  interface Waiting {
    readonly process: ProcessView;
    readonly key: string;
    readonly taskId: string;
    readonly fromMs: number;
    polls: number;
  }
  const waiting = new Map<string, Waiting>();
  return {
    see(seen) {
      if (seen.kind === "sent" && seen.exchange.method === "tasks/update") {
        for (const key of Object.keys(seen.exchange.params["inputResponses"] as JsonObject)) {
          waiting.delete(`${seen.exchange.taskId ?? ""} ${key}`);
        }
      }
      if (seen.kind === "wrote" && seen.after?.taskId !== undefined) {
        const { taskId, questions } = seen.after;
        const answered = questions.filter(({ state }) => state === "answered").map(({ key }) => key);
        for (const { key } of questions) if (!answered.includes(key)) waiting.delete(`${taskId} ${key}`);
        if (seen.process === undefined) return;
        for (const { key } of newAnswers(seen)) {
          const fromMs = world.time.now + (answered.length > 1 ? AFTER_OTHERS_MS : SOON_MS);
          waiting.set(`${taskId} ${key}`, { process: seen.process, key, taskId, fromMs, polls: 0 });
        }
      }
      if (seen.kind !== "ended" || seen.exchange.method !== "tasks/get") return;
      const { process, exchange, end } = seen;
      if (end.kind !== "answer" || end.result === undefined) return;
      for (const one of waiting.values()) {
        if (one.process !== process || one.taskId !== exchange.taskId || exchange.sentAt < one.fromMs)
          continue;
        one.polls += 1;
        if (one.polls >= POLLS) throw new Violation(name, `the answer to ${one.key} lies there`);
      }
    },
  };
}

/** When a policy is to answer a question, in the world's time. */
interface PolicyDue {
  readonly each: string;
  readonly process: ProcessView;
  readonly id: string;
  readonly key: string;
  readonly atMs: number;
}

/** What a process says of that where it shows the question. */
function dueOf(world: World, seen: Observation): PolicyDue | undefined {
  if (seen.kind !== "told" || seen.name !== "input") return undefined;
  const { process } = seen;
  const { id, key, unanswered } = (seen.event as { request: TaskInputRequest }).request;
  if (unanswered === undefined) return undefined;
  const atMs = unanswered.at.getTime() - START_MS - process.wallOffsetMs;
  return { each: `${process.name} ${id} ${key}`, process, id: `${process.scope}/${id}`, key, atMs };
}

/** P9: what the host said of questions that nobody answers comes to pass, when its time has come. */
function policiesAnswer(world: World, ledger: Ledger): Invariant {
  const name = "P9 a policy answers when its time has come";
  const LATE_MS = 30_000;
  const due = new Map<string, PolicyDue>();
  return {
    see(seen) {
      const one = dueOf(world, seen);
      if (one !== undefined) due.set(one.each, { ...one, atMs: one.atMs + LATE_MS });
      if (seen.kind === "told" && seen.name === "inputWithdrawn") {
        const { id, key } = seen.event as { id: string; key: string };
        due.delete(`${seen.process.name} ${id} ${key}`);
      }
    },
    check() {
      for (const [each, { process, id, key, atMs }] of due) {
        if (world.time.now < atMs) continue;
        due.delete(each);
        if (!process.alive || process.closing || process.sleepsUntil > 0) continue;
        if (ledger.failed(process, "*") || world.disk.brokenUntil > world.time.now - 2 * LATE_MS) continue;
        const record = world.disk.records.get(id);
        const isOpen = record?.questions.some((one) => one.key === key && one.state === "open");
        if (isOpen !== true || record?.outcome !== undefined) continue;
        throw new Violation(name, `${key} of ${id} is still open`);
      }
    },
  };
}

/** P9: no policy overtakes a person whose answer is being stored, and was given before the policy's time. */
function peopleComeFirst(world: World): Invariant {
  const name = "P9 no policy overtakes a person";
  const untilMs = new Map<string, number>();
  const answered = new Set<string>();
  return {
    see(seen) {
      const due = dueOf(world, seen);
      if (due !== undefined) {
        untilMs.set(due.each, due.atMs);
        answered.delete(due.each);
      }
      if (seen.kind === "gave" && seen.how === "handler") {
        const each = `${seen.process.name} ${seen.id} ${seen.key}`;
        if (world.time.now < (untilMs.get(each) ?? 0)) answered.add(each);
      }
      if (seen.kind !== "wrote" || seen.process === undefined) return;
      for (const { key, source } of newAnswers(seen)) {
        const each = `${seen.process.name} ${seen.after?.id ?? ""} ${key}`;
        if (source === "policy" && answered.has(each))
          throw new Violation(name, `${key} was answered already`);
        answered.delete(each);
      }
    },
  };
}

/** P7: who is shown a question hears when it is over: its call has ended, or the client closed. */
function withdrawnInTime(world: World): Invariant {
  const name = "P7 a question that is over is withdrawn";
  const SOON_MS = 15_000;
  interface Shown {
    readonly process: ProcessView;
    readonly key: string;
    readonly signal: AbortSignal;
  }
  const shown = new Map<string, Shown[]>();
  const due: { atMs: number; one: Shown }[] = [];
  const over = (all: readonly Shown[]): void => {
    for (const one of all) due.push({ atMs: world.time.now + SOON_MS, one });
  };
  const isEnd = (record: TaskRecord | undefined): boolean =>
    record?.outcome !== undefined &&
    !(record.outcome.status === "lost" && record.outcome.reason === "gave-up");
  return {
    see(seen) {
      switch (seen.kind) {
        case "shown": {
          const each = `${seen.process.name} ${seen.request.id}`;
          const { key, signal } = seen.request;
          shown.set(each, [...(shown.get(each) ?? []), { process: seen.process, key, signal }]);
          return;
        }
        case "gave": {
          // Its own answer ends the showing.
          const each = `${seen.process.name} ${seen.id}`;
          if (seen.how !== "handler") return;
          shown.set(each, shown.get(each)?.filter(({ key }) => key !== seen.key) ?? []);
          return;
        }
        case "wrote": {
          if (seen.process === undefined || !isEnd(seen.after) || isEnd(seen.before)) return;
          const each = `${seen.process.name} ${seen.after?.id ?? ""}`;
          over(shown.get(each) ?? []);
          shown.delete(each);
          return;
        }
        case "closed":
          for (const [each, all] of shown) {
            if (!each.startsWith(`${seen.process.name} `)) continue;
            over(all);
            shown.delete(each);
          }
          return;
        default:
          return;
      }
    },
    check() {
      const first = due[0];
      if (first === undefined || first.atMs > world.time.now) return;
      due.shift();
      const { process, key, signal } = first.one;
      if (!process.alive || process.sleepsUntil > 0 || signal.aborted) return;
      throw new Violation(name, `${key} is still shown by ${process.name}`);
    },
  };
}
