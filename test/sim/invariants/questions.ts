/** Owns promises 7 to 9: questions are shown once and side by side, the first stored answer is the one that is sent, nobody answers for people. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../../src/internal/json.js";
import { idOf } from "../disk.js";
import { Violation, type Invariant, type ProcessView } from "../observation.js";
import { editionOf } from "../serverTask.js";
import type { World } from "../world.js";
import type { Ledger } from "./ledger.js";

export function questionInvariants(world: World, ledger: Ledger): Invariant[] {
  return [
    shownOnce(ledger),
    firstAnswerStands(world, ledger),
    acknowledgedByTheServer(),
    nothingIsDecided(world, ledger),
    allAreShown(world),
  ];
}

/**
 * P7: a question is shown once per process life, unless the process lost the call to another, or to the store, and got it
 * back, or the server refused the answer, showed the question no more, and then again.
 */
function shownOnce(ledger: Ledger): Invariant {
  const name = "P7 a question is shown once";
  /** By the edition that was shown last: what the server puts in other words is another question. */
  const shown = new Map<string, number>();
  return {
    see(seen) {
      if (seen.kind === "told" && seen.name === "inputWithdrawn") {
        const { id, key } = seen.event as { id: string; key: string };
        if (!ledger.isShared && !ledger.failed(seen.process, "*")) return;
        const begin = `${seen.process.name} ${id} ${key} `;
        for (const each of shown.keys()) if (each.startsWith(begin)) shown.delete(each);
      }
      if (seen.kind === "wrote") {
        for (const { key, state } of seen.after?.questions ?? []) {
          if (state !== "refused") continue;
          for (const each of shown.keys())
            if (each.includes(` ${seen.after?.id ?? ""} ${key} `)) shown.delete(each);
        }
      }
      if (seen.kind !== "shown") return;
      const { id, key, askedAt } = seen.request;
      const each = `${seen.process.name} ${id} ${key} ${key.startsWith("r") ? askedAt.getTime() : ""}`;
      const edition = editionOf(seen.request);
      if (shown.get(each) === edition) throw new Violation(name, `${id} ${key} is shown again`);
      shown.set(each, edition);
    },
  };
}

/** P7: the first answer that is stored is the only one that is sent, as it was, and only once it is stored. */
function firstAnswerStands(world: World, ledger: Ledger): Invariant {
  const name = "P7 the first stored answer stands";
  const stored = new Map<string, JsonObject>();
  /** Two processes on a store without compare-and-set may both be first. */
  const isStrict = (): boolean => world.scenario.store.cas || !ledger.isShared;
  return {
    see(seen) {
      if (seen.kind === "wrote" && seen.after !== undefined) {
        const before = new Map(seen.before?.questions.map((question) => [question.key, question]));
        for (const question of seen.after.questions) {
          // The questions of a call's rounds may come again with every round.
          const key = `${idOf(seen.after)} ${seen.after.taskId ?? seen.after.requestState ?? ""} ${question.key}`;
          const isAnother = before.get(question.key)?.digest !== question.digest;
          if (question.state === "refused" || (question.state === "open" && isAnother)) stored.delete(key);
          if (question.state !== "answered" || question.response === undefined) continue;
          const first = stored.get(key);
          if (first === undefined) stored.set(key, question.response);
          else if (
            !isDeepStrictEqual(first, question.response) &&
            isStrict() &&
            before.get(question.key)?.state !== "refused"
          ) {
            throw new Violation(name, `the answer to ${question.key} was replaced`);
          }
        }
      }
      if (seen.kind === "wrote" && seen.after === undefined && seen.before !== undefined) {
        // The record is gone: whoever calls again is asked again.
        for (const key of stored.keys()) if (key.startsWith(`${idOf(seen.before)} `)) stored.delete(key);
      }
      if (seen.kind !== "sent") return;
      const { method, params, taskId } = seen.exchange;
      if (method !== "tasks/update") return;
      const record = [...world.disk.records.values()].find(
        (one) => one.taskId === taskId && one.scope === seen.process.scope,
      );
      if (record === undefined) return;
      for (const [key, response] of Object.entries(params["inputResponses"] as JsonObject)) {
        const first = stored.get(`${idOf(record)} ${taskId ?? ""} ${key}`);
        if (first === undefined) throw new Violation(name, `the answer to ${key} is sent, but not stored`);
        if (!isDeepStrictEqual(first, response) && isStrict()) {
          throw new Violation(name, `the answer to ${key} that is sent is not the first that was stored`);
        }
      }
    },
  };
}

/** P7: an answer counts as acknowledged when the server has said so. */
function acknowledgedByTheServer(): Invariant {
  const name = "P7 an answer is sent until it is acknowledged";
  const acked = new Set<string>();
  return {
    see(seen) {
      if (seen.kind === "ended" && seen.exchange.method === "tasks/update" && seen.end.kind === "answer") {
        if (seen.end.result === undefined) return;
        const keys = Object.keys(seen.exchange.params["inputResponses"] as JsonObject);
        for (const key of keys) acked.add(`${seen.exchange.taskId ?? ""} ${key}`);
      }
      if (seen.kind !== "wrote" || seen.after?.taskId === undefined) return;
      for (const { key, state } of seen.after.questions) {
        if (state === "acked" && !acked.has(`${seen.after.taskId} ${key}`)) {
          throw new Violation(name, `the answer to ${key} counts as acknowledged`);
        }
      }
    },
  };
}

/** P9: what arrives at the server was given by a person, to this question, or by what the host had said, when its time had come. */
function nothingIsDecided(world: World, ledger: Ledger): Invariant {
  const name = "P9 nothing is decided for the user";
  const given = new Map<string, { response: JsonObject; notBefore: number; isPolicy: boolean }[]>();
  return {
    see(seen) {
      if (seen.kind === "gave") {
        const n = ledger.callOf(`${seen.process.scope}/${seen.id}`)?.n;
        const key = `${seen.process.scope} ${n ?? seen.id} ${seen.key}`;
        const { response, notBefore } = seen;
        const one = { response, notBefore: notBefore ?? 0, isPolicy: notBefore !== undefined };
        given.set(key, [...(given.get(key) ?? []), one]);
      }
      if (seen.kind !== "took") return;
      const answers = given.get(`${seen.scope} ${seen.n} ${seen.key}`) ?? [];
      const found = answers.filter(
        ({ response, notBefore }) =>
          notBefore <= world.time.now && isDeepStrictEqual(response, seen.response),
      );
      if (found.length === 0)
        throw new Violation(name, `nobody gave the answer to ${seen.key} that the server has`);
      if (found.every(({ isPolicy }) => isPolicy)) world.count("answered by policy");
    },
  };
}

/** How long a question may be stored as open before it is shown: the server's name for people is asked for first. */
const SHOW_MS = 15_000;

/** P8: a question is shown though others wait; without a handler it is told of, and stays open. */
function allAreShown(world: World): Invariant {
  const name = "P8 every open question is shown";
  interface Due {
    readonly process: ProcessView;
    readonly id: string;
    readonly recordId: string;
    readonly key: string;
    readonly atMono: number;
  }
  const due = new Map<string, Due>();
  /** Also of what the store did not take in time: it is shown all the same. */
  const told = new Set<string>();
  const monoOf = (process: ProcessView): number => world.time.now - process.missedMs;
  return {
    see(seen) {
      if (seen.kind === "told" && seen.name === "input") {
        const { request } = seen.event as { request: { id: string; key: string } };
        const each = `${seen.process.name} ${request.id} ${request.key}`;
        told.add(each);
        due.delete(each);
      }
      if (seen.kind === "slept") {
        for (const [key, one] of due) if (one.process === seen.process) due.delete(key);
      }
      if (seen.kind !== "wrote" || seen.after === undefined || seen.process === undefined) return;
      const { process, after } = seen;
      // What was on its way to the disk when the machine fell asleep.
      if (process.sleepsUntil > world.time.now) return;
      const before = new Set(seen.before?.questions.map(({ key }) => key));
      if (seen.before?.requestState !== after.requestState) before.clear();
      for (const { key, state } of after.questions) {
        const each = `${process.name} ${after.id} ${key}`;
        if (state !== "open" || before.has(key) || told.has(each)) continue;
        due.set(each, {
          process,
          id: after.id,
          recordId: idOf(after),
          key,
          atMono: monoOf(process) + SHOW_MS,
        });
      }
    },
    check() {
      for (const [each, one] of due) {
        const { process } = one;
        const record = world.disk.records.get(one.recordId);
        const isOpen =
          record?.questions.some(({ key, state }) => key === one.key && state === "open") === true;
        const isOver = record?.outcome !== undefined;
        if (!process.alive || process.closing || !isOpen || isOver) due.delete(each);
        else if (process.sleepsUntil <= world.time.now && monoOf(process) > one.atMono) {
          throw new Violation(name, `${one.id} ${one.key} is open, and was not shown`);
        }
      }
    },
  };
}
