/** Owns how an observation reads in a trace: short, the same in every run, and without task ids. */
import type { CallToolEnd, ExchangeEnd, Observation } from "./observation.js";
import type { TaskRecord } from "../../src/task/record.js";
import { editionOf, SECRET } from "./serverTask.js";

export function describe(seen: Observation): string | undefined {
  const who = seen.process === undefined ? "world" : seen.process.name;
  return hidden(`${who} ${words(seen)}`);
}

function words(seen: Observation): string {
  switch (seen.kind) {
    case "started":
    case "crashed":
    case "closed":
    case "calmed":
      return seen.kind;
    case "slept":
      return `sleeps until ${seen.process.sleepsUntil}`;
    case "wrote":
      if (seen.text !== undefined) return `stores ${seen.key}: ${seen.text.slice(0, 300)}`;
      return `stores ${seen.key}: ${recordWords(seen.before)} -> ${recordWords(seen.after)}`;
    case "storeFailed":
      return `store refuses ${seen.operation} ${seen.key}${seen.applied ? ", having done it" : ""}`;
    case "sent":
      return `#${seen.exchange.number} sends ${seen.exchange.method} ${subject(seen.exchange)}`;
    case "ended":
      return `#${seen.exchange.number} ${seen.exchange.method} ${endWords(seen.end)}`;
    case "noticed":
      return `hears ${stateWords(seen.snapshot)}`;
    case "executed":
      return `executes call ${seen.n}, time ${seen.times}`;
    case "took":
      return `server takes the answer to ${seen.key}${editionWords(seen.asked?.edition)}: ${JSON.stringify(seen.response)}`;
    case "told":
      return `tells ${seen.name} ${told(seen.event)}`;
    case "shown":
      return `shows ${seen.request.id} ${seen.request.key}${editionWords(editionOf(seen.request))}`;
    case "hidden":
      return `shows ${seen.id} ${seen.key} no more`;
    case "gave":
      if (seen.notBefore !== undefined)
        return `a policy will answer ${seen.id} ${seen.key}: ${JSON.stringify(seen.response)}`;
      return `a person answers ${seen.id} ${seen.key}${editionWords(seen.edition)}: ${JSON.stringify(seen.response)}`;
    case "waited":
      return `result() of ${seen.id} gives ${callWords(seen.end)}`;
    case "rejected":
      return `${seen.what} rejects with ${(seen.error as Error).name}`;
    case "asked for":
      return `calls ${seen.spec.n}`;
    case "called":
      return `call ${seen.spec.n} gives ${callWords(seen.end)}`;
    case "left":
      return `call ${seen.n}: ${seen.how}`;
    case "settling":
      return `onSettled ${seen.settled.id} ${seen.settled.status}`;
    case "delivered":
      return `onSettled ${seen.settled.id} resolves`;
  }
}

function editionWords(edition = 1): string {
  return edition === 1 ? "" : ` (edition ${edition})`;
}

function recordWords(record: TaskRecord | undefined): string {
  if (record === undefined) return "nothing";
  const { phase, snapshot, outcome, questions, call, failures, taskId } = record;
  const asked = questions.map(({ key, state }) => `${key}=${state}`).join(",");
  const reason = outcome?.status === "lost" ? ` ${outcome.reason}` : "";
  return [
    phase,
    taskId ?? "",
    call?.inFlight === true ? "in flight" : "",
    outcome === undefined ? (snapshot?.status ?? "") : `${outcome.status}${reason}`,
    snapshot?.lastUpdatedAt ?? "",
    asked,
    failures === undefined ? "" : `failures ${failures}`,
  ]
    .filter((word) => word !== "")
    .join(" ");
}

function subject(exchange: { server: number; taskId: string | undefined; params: unknown }): string {
  const { arguments: args } = exchange.params as { arguments?: { n: number } };
  return `to s${exchange.server} ${exchange.taskId ?? (args === undefined ? "" : `call ${args.n}`)}`;
}

function endWords(end: ExchangeEnd): string {
  if (end.kind !== "answer") return end.kind;
  const retry = end.retryAfterMs === undefined ? "" : ` retry after ${end.retryAfterMs}`;
  if (end.error !== undefined) return `error ${end.error.code}`;
  const { status, lastUpdatedAt } = (end.result ?? {}) as { status?: string; lastUpdatedAt?: string };
  return `HTTP ${end.status}${retry} ${end.result === undefined ? "" : `result ${status ?? ""} ${lastUpdatedAt ?? ""}`}`;
}

function callWords(end: CallToolEnd): string {
  if (end.kind === "error") return `${nameOf(end.error)}: ${(end.error as Error).message}`;
  return end.kind;
}

function stateWords(snapshot: unknown): string {
  const { taskId, status, lastUpdatedAt } = snapshot as Record<string, string>;
  return `that ${taskId ?? ""} is ${status ?? ""} since ${lastUpdatedAt ?? ""}`;
}

function told(event: unknown): string {
  const { id, server, snapshot, status, reason, method, delayMs, error, state, key, late, request } =
    event as Record<string, unknown>;
  const shownAs = (snapshot as { status?: string; lastUpdatedAt?: string } | undefined) ?? {};
  const parts = [
    id,
    server,
    status,
    shownAs.status,
    shownAs.lastUpdatedAt,
    reason,
    method,
    delayMs,
    state,
    key,
  ];
  if (late === true) parts.push("late");
  if (request !== undefined) parts.push((request as { key: string }).key);
  if (error !== undefined) parts.push(`${nameOf(error)}: ${(error as Error).message}`);
  return parts
    .filter((part) => part !== undefined)
    .map(String)
    .join(" ");
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function hidden(line: string): string {
  return line.replaceAll(`${SECRET}-`, "");
}
