/** Owns what each column of the table means: which call is made, and which evidence on the wire makes it "ok". */
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "mcp-taskrail";
import type { ClientKind, Job, Told } from "./job.js";
import type { Call, ForeignServer } from "./servers.js";
import type { Wire, WireEntry } from "./wire.js";

/** The outcome of one cell. */
export interface Cell {
  readonly state: "ok" | "FAIL" | "n/a" | "skipped";
  readonly reason?: string;
}

/** One client process that ran, or was killed. */
export interface HostRun {
  readonly told: readonly Told[];
  readonly wire: Wire;
  readonly output: string;
  readonly late: boolean;
}

/** What a cell can do: run client processes against one server. */
export interface Bench {
  readonly server: ForeignServer;
  readonly transport: "http" | "stdio";
  readonly client: ClientKind;
  /** Runs one job to its end, or until `killWhen` says so (SIGKILL for the client alone). Each name is one recording. */
  run(
    name: string,
    job: Omit<Job, "client" | "endpoint" | "negotiation">,
    options?: { killWhen?: (told: Told) => boolean },
  ): Promise<HostRun>;
  /** A fresh folder. */
  folder(name: string): string;
}

const ok: Cell = { state: "ok" };
const fail = (reason: string): Cell => ({ state: "FAIL", reason });
const na = (reason: string): Cell => ({ state: "n/a", reason });

/** The columns, in order. A run may fill several. */
export const COLUMNS = [
  "immediate",
  "created",
  "polled",
  "answered",
  "cancelled",
  "pushed",
  "resumed",
] as const;
export type Column = (typeof COLUMNS)[number];
export type Row = Readonly<Partial<Record<Column, Cell>>>;

/** Each answers one or more columns. */
export const PROBES: readonly ((bench: Bench) => Promise<Row>)[] = [
  async (bench) => ({ immediate: await immediate(bench) }),
  createdAndPolled,
  async (bench) => ({ answered: await answered(bench) }),
  async (bench) => ({ cancelled: await cancelled(bench) }),
  async (bench) => ({ pushed: await pushed(bench) }),
  async (bench) => ({ resumed: await resumed(bench) }),
];

async function immediate(bench: Bench): Promise<Cell> {
  const run = await bench.run("immediate", jobOf(bench.server.immediate));
  return beyond(run) ?? ended(run, ["result"], bench.server.immediate.expect) ?? ok;
}

async function createdAndPolled(bench: Bench): Promise<Row> {
  const call = bench.server.task;
  const run = await bench.run("task", jobOf(call));
  const out = beyond(run) ?? withoutTask(bench, run);
  if (out !== undefined) return { created: out, polled: out };
  const created = run.wire.taskId() === undefined ? fail(`no handle on the wire; ${shown(run)}`) : ok;
  const polls = run.wire.sent("tasks/get").length;
  const polled = ended(run, finished(bench), call.expect) ?? (polls > 0 ? ok : fail("no tasks/get"));
  return { created, polled };
}

async function answered(bench: Bench): Promise<Cell> {
  const call = bench.server.question;
  if ("lacks" in call) return na(call.lacks);
  const run = await bench.run("question", {
    ...jobOf(call),
    answer: call.answer,
  });
  const { wire } = run;
  const [fetch] = wire.sent("tasks/result");
  if (fetch !== undefined && wire.answerTo(fetch)?.error?.code === -32601) {
    return na("the server has no tasks/result in 2025-11-25, over which it would ask");
  }
  const out = beyond(run) ?? withoutTask(bench, run) ?? ended(run, finished(bench), call.expect);
  if (out !== undefined) return out;
  if (wire.received("elicitation/create").some((request) => !namesTask(request))) {
    return na("the server's question names no task: it goes to the SDK client's own handler, as any other");
  }
  const asked = run.told.filter(({ tell }) => tell === "question").length;
  if (asked !== 1) return fail(`asked ${asked} times`);
  const carried = wire.sent("tasks/update").length + wire.received("elicitation/create").length;
  return carried > 0 ? ok : fail("the answer went neither by tasks/update nor to elicitation/create");
}

async function cancelled(bench: Bench): Promise<Cell> {
  const run = await bench.run("cancel", {
    ...jobOf(bench.server.long),
    cancel: true,
  });
  const out = beyond(run) ?? withoutTask(bench, run);
  if (out !== undefined) return out;
  if (run.wire.sent("tasks/cancel").length === 0) return fail(`no tasks/cancel; ${shown(run)}`);
  return ended(run, ["cancelled"], /^/) ?? ok;
}

async function pushed(bench: Bench): Promise<Cell> {
  const call = bench.server.long;
  const run = await bench.run("push", jobOf(call));
  const out = beyond(run) ?? withoutTask(bench, run) ?? ended(run, finished(bench), call.expect);
  if (out !== undefined) return out;
  return speaks(run.wire, "subscriptions/listen") || !speaksLegacy(run.wire)
    ? pushedByStream(run)
    : pushedBySession(run.wire);
}

function pushedByStream({ wire, told }: HostRun): Cell {
  if (told.some((line) => line.tell === "push" && line.state === "absent")) {
    return {
      state: "skipped",
      reason: "this build's connection does not listen",
    };
  }
  const [listen] = wire.sent("subscriptions/listen");
  if (listen === undefined) return fail("no subscriptions/listen");
  const refused = wire.answerTo(listen)?.error;
  if (refused !== undefined) return na(`the server refuses subscriptions/listen (${refused.code})`);
  const [acknowledged] = wire.received("notifications/subscriptions/acknowledged");
  if (acknowledged === undefined) return fail("the subscription was not acknowledged");
  const filter = acknowledged.message.params?.["notifications"] as { taskIds?: string[] } | undefined;
  const taskId = wire.taskId();
  if (taskId === undefined || filter?.taskIds?.includes(taskId) !== true) {
    return na("the server acknowledges no task ids");
  }
  const notice = wire.received("notifications/tasks").find((entry) => isTerminal(entry, taskId));
  if (notice === undefined) return fail("no terminal notifications/tasks");
  const polls = wire.sent("tasks/get").filter(({ at }) => at > acknowledged.at).length;
  return polls <= 2 ? ok : fail(`${polls} polls after the acknowledgement`);
}

function pushedBySession(wire: Wire): Cell {
  const taskId = wire.taskId();
  const notices = wire.received("notifications/tasks/status");
  const terminal = notices.some((entry) => taskId !== undefined && isTerminal(entry, taskId));
  return terminal ? ok : na("the server sends no terminal notifications/tasks/status");
}

async function resumed(bench: Bench): Promise<Cell> {
  const job = {
    ...jobOf(bench.server.long),
    store: bench.folder("store"),
    callId: "interop",
  };
  const first = await bench.run("resume", job, {
    killWhen: ({ tell }) => tell === "created",
  });
  const out = beyond(first) ?? withoutTask(bench, first);
  if (out !== undefined) return out;
  if (first.told.some(({ tell }) => tell === "ended")) return fail("the client ended before it was killed");
  const polledBefore = first.wire.sent("tasks/get").length;
  await sleep(500);
  const second = await bench.run("resume", job);
  const { wire } = second;
  const calls = wire.callsTaken().length;
  if (calls !== 1) return fail(`the tool was called ${calls} times`);
  const polls = wire.sent("tasks/get").slice(polledBefore);
  const last = second.told.at(-1);
  if (last?.tell === "ended" && /^(lost|rejected TASK_LOST)$/.test(last.status))
    return lostWithServer(bench, wire, polls);
  return ended(second, finished(bench), bench.server.long.expect) ?? ok;
}

/** A task may be lost when the server that answers now never had it. */
function lostWithServer(bench: Bench, wire: Wire, polls: readonly WireEntry[]): Cell {
  const taskId = wire.taskId();
  const unknown = polls.filter(
    (poll) => poll.message.params?.["taskId"] === taskId && wire.answerTo(poll)?.error,
  );
  if (unknown.length === 0) return fail("lost, though the server never said that it does not know the task");
  if (bench.transport === "stdio" && bench.server.durable !== true) {
    return na("the server's process ended with its client: reported as lost, not called again");
  }
  if (speaksLegacy(wire)) return na("the server knows the task in its first session only: reported as lost");
  return fail("the server does not know the task any more");
}

function jobOf(call: Call): { tool: string; arguments: JsonObject } {
  return { tool: call.tool, arguments: call.arguments };
}

function isDropIn({ client }: Bench): boolean {
  return client.startsWith("withTasks");
}

/** The drop-in answers with the result, whether or not there was a task. */
function finished(bench: Bench): readonly string[] {
  return isDropIn(bench) ? ["result"] : ["completed"];
}

/** What this build, or the generation, does not do. */
function beyond(run: HostRun): Cell | undefined {
  for (const told of run.told) {
    if (told.tell === "impossible") return { state: "skipped", reason: told.why };
    if (told.tell === "ended" && told.status === "rejected ERA_NOT_SUPPORTED") {
      return na("an earlier generation over plain HTTP: reported as ERA_NOT_SUPPORTED");
    }
  }
  return undefined;
}

/** A server may serve the other revision without tasks: then its answer to the call is a result or an error. */
function withoutTask(bench: Bench, run: HostRun): Cell | undefined {
  const { wire } = run;
  const expected = bench.server.generation === "2025-11-25" ? speaksLegacy(wire) : !speaksLegacy(wire);
  const call = wire.sent("tools/call").at(-1);
  if (expected || call === undefined || run.told.at(-1)?.tell !== "ended") return undefined;
  const answer = wire.answerTo(call);
  if (answer === undefined || wire.taskId() !== undefined) return undefined;
  const how = answer.error === undefined ? "it answers at once" : `it refuses the call: ${answer.error.code}`;
  return na(`the server has no tasks in ${speaksLegacy(wire) ? "2025-11-25" : "2026-07-28"} (${how})`);
}

function ended(run: HostRun, statuses: readonly string[], expect: RegExp): Cell | undefined {
  if (run.late) return fail(`no end in time; ${shown(run)}`);
  const last = run.told.at(-1);
  if (last?.tell !== "ended") return fail(`the client died: ${run.output.slice(-300)}`);
  if (!statuses.includes(last.status)) return fail(`ended as ${shown(run)}`);
  return expect.test(last.text) ? undefined : fail(`unexpected text: ${last.text.slice(0, 120)}`);
}

function shown(run: HostRun): string {
  const lines = run.told.slice(-3).map((line) => JSON.stringify(line).slice(0, 160));
  return lines.join(" ") || run.output.slice(-200);
}

function speaks(wire: Wire, method: string): boolean {
  return wire.sent(method).length > 0;
}

function speaksLegacy(wire: Wire): boolean {
  return speaks(wire, "initialize");
}

function namesTask({ message }: WireEntry): boolean {
  const meta = message.params?.["_meta"] as Readonly<Record<string, unknown>> | undefined;
  return meta?.["io.modelcontextprotocol/related-task"] !== undefined;
}

function isTerminal({ message }: WireEntry, taskId: string): boolean {
  const params = message.params ?? {};
  const terminal = ["completed", "failed", "cancelled"].includes(String(params["status"]));
  return terminal && params["taskId"] === taskId;
}
