/** Owns one measurement: runs a scenario for each side on one server, and says what the server and the parent saw. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawnTaskServer, type LogEntry, type SpawnedTaskServer, type TestTask } from "mcp-taskrail/testing";
import { POLL_INTERVAL_MS, TOOL, toolOf, type HostSettings, type Scenario } from "./scenarios.js";

export interface Side {
  readonly label: string;
  /** URL of the host program. */
  readonly program: string;
}

/** What a host process tells. */
interface Told {
  readonly event: "asked" | "result" | "late" | "failure";
  readonly atMs: number;
  readonly text?: string;
}

/** What is left when a side is through. */
interface Seen {
  readonly scenario: Scenario;
  /** By host process. */
  readonly told: readonly (readonly Told[])[];
  readonly log: readonly LogEntry[];
  readonly tasks: readonly TestTask[];
  readonly timesRun: number;
  readonly gaveUp: boolean;
}

/** A side that has ended by then is not waited for any longer. */
const GIVE_UP_MS = 150_000;
const LOOK_EVERY_MS = 20;

/** One cell per side, one side after the other. */
export async function measure(
  scenario: Scenario,
  sides: readonly Side[],
  folder: string,
): Promise<readonly string[]> {
  await using server = await spawnTaskServer({
    pollIntervalMs: POLL_INTERVAL_MS,
    push: true,
    tools: [toolOf(scenario)],
  });
  const cells = [];
  for (const side of sides) {
    cells.push(cell(await run(scenario, side, server, mkdtempSync(join(folder, "host-")))));
  }
  return cells;
}

async function run(
  scenario: Scenario,
  { program }: Side,
  server: SpawnedTaskServer,
  folder: string,
): Promise<Seen> {
  const { faults = [] } = scenario;
  const logged = server.log().length;
  const known = (await server.tasks()).length;
  const timesRun = async (): Promise<number> => (await server.counters()).calls[TOOL] ?? 0;
  const ranBefore = await timesRun();
  await server.clearFaults();
  for (const fault of faults) await server.addFault(fault);

  const hosts: { readonly child: ChildProcess; readonly told: Told[]; readonly ended: Promise<void> }[] = [];
  const last = () => hosts[hosts.length - 1]!;
  const startHost = (settings: HostSettings): void => {
    const given = { answers: true, timeoutMs: 30_000, holdMs: 0, ...settings };
    hosts.push(startChild({ ...given, program, url: server.url, folder, name: TOOL, args: {} }));
  };
  const until = async (done: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await done())) await sleep(LOOK_EVERY_MS);
  };

  startHost(scenario.host ?? {});
  await scenario.steer?.({
    server,
    taskMade: () => until(async () => (await server.tasks()).length > known),
    answered: (method, count) =>
      until(
        () => server.log().filter((entry, at) => at >= logged && entry.method === method).length >= count,
      ),
    asked: () => until(() => last().told.some(({ event }) => event === "asked")),
    async killHost() {
      last().child.kill("SIGKILL");
      await last().ended;
    },
    startHost,
    sleep: (ms) => sleep(ms),
  });
  const gaveUp = await Promise.race([
    last().ended.then(() => false),
    sleep(GIVE_UP_MS, true, { ref: false }),
  ]);
  if (gaveUp) last().child.kill("SIGKILL");
  await last().ended;
  return {
    scenario,
    told: hosts.map(({ told }) => told),
    log: server.log().slice(logged),
    tasks: (await server.tasks()).slice(known),
    timesRun: (await timesRun()) - ranBefore,
    gaveUp,
  };
}

function startChild(settings: object) {
  const file = fileURLToPath(new URL("./child.mjs", import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(settings)], {
    stdio: ["ignore", "ignore", process.env["PEER_VERBOSE"] === undefined ? "ignore" : "inherit", "ipc"],
  });
  const told: Told[] = [];
  child.on("message", (message) => void told.push(message as Told));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return { child, told, ended };
}

/** What was seen, in a few words. */
function cell(seen: Seen): string {
  const { scenario, told, log, tasks, timesRun, gaveUp } = seen;
  const asked = told.map((of) => of.filter(({ event }) => event === "asked").length);
  const broken = new Set(log.flatMap(({ violations = [] }) => violations.map(({ rule }) => rule)));
  const facts = [
    ending(seen),
    `tool run ${timesRun}x`,
    requests(log, listens(scenario)),
    ...retries(log),
    ...(asked.some((count) => count > 0) ? [`person asked ${asked.join(" + ")}x`] : []),
    `at the server: ${tasks.map(({ status }) => status).join(", ")}`,
    ...(broken.size > 0 ? [`broke the server's rule ${[...broken].join(", ")}`] : []),
    ...(gaveUp ? [`still running after ${GIVE_UP_MS / 1000} s`] : []),
  ];
  return facts.join("; ");
}

/** How it ended for the host: of the last process, and what it was told after that. */
function ending({ scenario, told, tasks }: Seen): string {
  const last = told.at(-1) ?? [];
  const end = last.find(({ event }) => event === "result" || event === "failure");
  const late = last.find(
    ({ event, atMs }) => event === "late" && end?.event === "failure" && atMs > end.atMs,
  );
  const overAtMs = overAt(scenario, tasks);
  const after = ({ atMs }: Told): string =>
    overAtMs === undefined ? "" : ` ${signed(Math.round(atMs - overAtMs))} ms`;
  if (end === undefined) return "**nothing**";
  const first = end.event === "result" ? `**result**${after(end)}` : `**error** ${end.text}`;
  return late === undefined ? first : `${first}, then **${late.text}**${after(late)} by onSettled`;
}

/** When the last task was over at the server. */
function overAt({ endsAfterMs }: Scenario, tasks: readonly TestTask[]): number | undefined {
  const task = tasks.at(-1);
  if (task === undefined) return undefined;
  return endsAfterMs === undefined ? task.answers.at(-1)?.atMs : task.createdAtMs + endsAfterMs;
}

function signed(ms: number): string {
  return ms < 0 ? String(ms) : `+${ms}`;
}

/** A scenario about streams says how many there were, also when there were none. */
function listens({ faults = [] }: Scenario): boolean {
  return faults.some(({ method }) => method === "subscriptions/listen");
}

function requests(log: readonly LogEntry[], showListens: boolean): string {
  const methods = ["tools/call", "tasks/get", "tasks/update", "tasks/cancel", "subscriptions/listen"];
  return methods
    .map((method) => ({ method, count: log.filter((entry) => entry.method === method).length }))
    .filter(({ method, count }) => count > 0 || (showListens && method === "subscriptions/listen"))
    .map(({ method, count }) => `${count} ${method}`)
    .join(", ");
}

/** How long after each refused request the next one of its kind came. */
function retries(log: readonly LogEntry[]): readonly string[] {
  const inOrder = [...log].sort((a, b) => a.atMs - b.atMs);
  const gaps = inOrder.flatMap(({ answer, method, atMs }, at) => {
    const next = inOrder.slice(at + 1).find((entry) => entry.method === method);
    return /^fault:(status|rateLimit)$/.test(answer) && next !== undefined ? [next.atMs - atMs] : [];
  });
  return gaps.length === 0 ? [] : [`tried again after ${gaps.join(", ")} ms`];
}
