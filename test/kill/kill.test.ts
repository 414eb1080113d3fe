/** The crash proof: a worker is killed by SIGKILL at every moment of a call and started again; see moments.ts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { compilePrograms, type Programs } from "../process/programs.js";
import { appliedAnswers, askedByLife, callsOf, createdTasks, expectedOf, summary } from "./evidence.js";
import { allMoments } from "./moments.js";
import { run, type Evidence } from "./run.js";

const CONCURRENCY = 4;
/** Every second one, in turn of replaying and resuming hosts; TASKRAIL_ALL_MOMENTS=1: all. `npm run crashes` has every point. */
const every = process.env["TASKRAIL_ALL_MOMENTS"] === "1" ? 1 : 2;
const moments = allMoments().filter((_, at) => every === 1 || [0, 3].includes(at % 4));

let programs: Programs;
let server: SpawnedTaskServer;
let runs: Map<string, Evidence>;

beforeAll(async () => {
  programs = compilePrograms();
  server = await spawnTaskServer({ strict: true, pollIntervalMs: 70 });
  runs = await runAll();
  console.log(summary([...runs.values()]));
}, 600_000);

afterAll(async () => {
  await server.stop();
  programs.remove();
});

async function runAll(): Promise<Map<string, Evidence>> {
  const found = new Map<string, Evidence>();
  const queue = moments.map((moment, i) => ({ moment, number: i + 1 }));
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      found.set(next.moment.name, await run(next.moment, next.number, { programs, server }));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return found;
}

function evidence(name: string): Evidence {
  const found = runs.get(name);
  if (found === undefined) throw new Error(`no run of ${name}`);
  return found;
}

it("has at least 60 moments, all of different names", () => {
  expect(new Set(moments.map(({ name }) => name)).size).toBe(moments.length);
  expect(moments.length).toBeGreaterThanOrEqual(60);
});

describe.each(moments.map((moment) => [moment.name, moment] as const))("%s", (name, moment) => {
  it("dies there, and goes on by itself after it, with nothing but store and connection (F118)", () => {
    const { lives, trace } = evidence(name);
    const last = lives.at(-1);
    for (const { life, killAt, ended } of lives) {
      if (killAt === undefined) continue;
      expect({ life, signal: ended.signal }).toEqual({ life, signal: "SIGKILL" });
    }
    expect({ code: last?.ended.code, stderr: last?.ended.stderr }).toEqual({ code: 0, stderr: "" });
    expect(trace.filter(({ what }) => what === "unhandled")).toEqual([]);
    expect(trace.filter(({ what }) => what === "error")).toEqual([]);
    expect(trace.at(-1)).toEqual({ life: last?.life, what: "finished" });
  });

  it("is called once, or ends as unknown where nobody can know (promises 2 and 3)", () => {
    const found = evidence(name);
    const expected = expectedOf(found);
    if (moment.expected !== undefined) expect(expected).toBe(moment.expected);
    const calls = callsOf(found);
    if (expected === "never") expect(calls).toEqual([]);
    else if (expected === "once") expect(calls).toHaveLength(found.scenario.calls);
    else {
      const killed = found.lives.filter(({ killAt }) => killAt !== undefined).length;
      expect(calls.length).toBeLessThanOrEqual(found.scenario.calls);
      // Nothing is sent again by the life that cannot know.
      expect(calls.filter(({ headers }) => headers["x-life"]?.endsWith(`/${killed + 1}`))).toEqual([]);
    }
    // A round that was answered is not called again: every call carries another state.
    const states = calls.map(({ params }) => JSON.stringify(params["requestState"] ?? null));
    expect(new Set(states).size).toBe(calls.length);
  });

  it("delivers the outcome (promise 10)", () => {
    const { deliveries, scenario, callId, lives, trace } = evidence(name);
    const expected = expectedOf(evidence(name));
    if (expected === "never") return expect(deliveries).toEqual([]);
    expect(deliveries.length).toBeGreaterThanOrEqual(1);
    const [{ life: _life, ...first } = { life: 0 }] = deliveries;
    for (const { life: _other, ...again } of deliveries) expect(again).toEqual(first);
    if (expected === "unknown") {
      expect(first).toMatchObject({ id: callId, status: "lost", reason: "call-outcome-unknown" });
      const heard = trace.filter((one) => one.what === "called" && one.life === lives.length);
      if (moment.replay) expect(heard).toMatchObject([{ how: "CALL_OUTCOME_UNKNOWN" }]);
    } else {
      expect(first).toMatchObject({ id: callId, status: scenario.status, ...scenario.outcome });
    }
    expect(lives.at(-1)?.records).toMatchObject([{ id: callId, phase: "delivered" }]);
  });

  it("asks once per life, and the first answer stands (promise 7, F131)", () => {
    const found = evidence(name);
    const expected = expectedOf(found);
    const asked = askedByLife(found);
    for (const [key, lives] of asked) expect([key, lives]).toEqual([key, [...new Set(lives)]]);
    expect(found.log.flatMap(({ conflicting = [] }) => conflicting)).toEqual([]);
    const applied = appliedAnswers(found);
    if (expected === "once") expect([...applied.keys()].sort()).toEqual([...found.scenario.keys].sort());
    for (const [key, values] of applied) {
      expect([key, values.length]).toEqual([key, 1]);
      // Whoever was asked last gave the answer: a life that finds one stored is not asked again.
      expect([key, values[0]]).toEqual([key, asked.get(key)?.at(-1)]);
    }
  });

  it("leaves no task of the server without a record (promise 1, F113)", () => {
    const found = evidence(name);
    const known = found.lives.at(-1)?.records.flatMap(({ taskId }) => taskId ?? []) ?? [];
    if (expectedOf(found) === "once") expect(known).toEqual(createdTasks(found));
    else expect(known).toEqual([]);
  });
});

it("breaks no rule of the wire in any run", () => {
  expect(server.violations()).toEqual([]);
});
