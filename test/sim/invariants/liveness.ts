/** Owns what must come to pass once nothing goes wrong any more: every task reaches its delivered end, and nothing is left behind. */
import type { TaskRecord } from "../../../src/task/record.js";
import type { HostProcess } from "../hostProcess.js";
import { Violation } from "../observation.js";
import type { World } from "../world.js";

/** How long a host takes to connect and to call. */
const LAST_CALL_MS = 30_000;

/** Every call was made and answered, and everything in the store is delivered. */
export function isAllOver(world: World): boolean {
  const { calls, stormMs } = world.scenario;
  const lastStart = Math.max(stormMs, ...calls.map(({ startMs }) => startMs));
  if (world.time.now < lastStart + LAST_CALL_MS) return false;
  for (const { alive } of world.callers.values()) if (alive) return false;
  for (const { alive, sleepsUntil } of world.processes)
    if (alive && sleepsUntil > world.time.now) return false;
  for (const record of world.disk.records.values()) if (record.phase !== "delivered") return false;
  return true;
}

/** What is not, in words. */
export function unfinished(world: World): string {
  const records = [...world.disk.records.values()].filter(({ phase }) => phase !== "delivered").map(words);
  const callers = [...world.callers].filter(([, { alive }]) => alive).map(([caller]) => `${caller} waits`);
  return [...records, ...callers].join("; ");
}

/** Nothing is under way any more. */
export function isIdle({ client }: HostProcess): boolean {
  const { live } = client.stats();
  return live.asking + live.calling + live.tracking === 0;
}

/** Before everybody closes. */
export function checkIdle(world: World, process: HostProcess): void {
  if (isIdle(process)) return;
  const live = JSON.stringify(process.client.stats().live);
  fail(world, "P11 nothing is left behind", `${process.view.name} still drives calls: ${live}`);
}

/** After `close()`: no timer, no request, no stream. */
export function checkClosed(world: World, { view, client }: HostProcess): void {
  const timers = world.time.timersOf(view);
  if (timers > 0) fail(world, "P11 nothing is left behind", `${timers} timers of ${view.name} are left`);
  const { servers } = client.stats();
  const inFlight = Object.values(servers).reduce((sum, one) => sum + one.inFlight + one.queued, 0);
  if (inFlight > 0)
    fail(world, "P11 nothing is left behind", `${inFlight} requests of ${view.name} are left`);
}

function words({ id, phase, snapshot, questions, call }: TaskRecord): string {
  const open = questions.map(({ key, state }) => `${key} ${state}`).join(", ");
  const how = phase === "calling" && call?.inFlight === true ? " (in flight)" : "";
  return `${id} is ${phase}${how} ${snapshot?.status ?? ""} ${open}`;
}

function fail(world: World, name: string, why: string): void {
  world.fail(new Violation(name, why));
}
