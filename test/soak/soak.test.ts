/** A short soak run: hundreds of tasks under chaos in one host process, every outcome right, nothing left over. */
import { beforeAll, expect, it } from "vitest";
import { judge, type SoakVerdict } from "./judge.js";
import { picture } from "./picture.js";
import { soak, type SoakEvidence } from "./run.js";
import { summary } from "./summary.js";

const TASKS = 300;

let evidence: SoakEvidence;
let verdict: SoakVerdict;

beforeAll(async () => {
  evidence = await soak({
    seed: 20_260_728,
    tasks: TASKS,
    arrivalMs: 6000,
    minLifeMs: 500,
    maxLifeMs: 3000,
    sampleMs: 500,
    servers: ["north", "east"],
    pollIntervalMs: 250,
    chaos: { everyMs: 200, restartEveryMs: 5000, downMs: 200 },
    limitMs: 60_000,
  });
  // Too short for a slope.
  verdict = judge(evidence, { curves: false });
  console.log(summary(evidence, verdict));
}, 90_000);

it("delivers every outcome, as it was at the server, and leaves no listener, timer or warning behind", () => {
  expect(evidence.stderr).toBe("");
  expect(verdict.wrong).toEqual([]);
});

it("was rough: faults, kills, questions, cancels and every kind of end", () => {
  expect(evidence.faults).toBeGreaterThan(5);
  expect(evidence.kills.length).toBeGreaterThan(0);
  expect(evidence.end?.asked).toBeGreaterThan(TASKS / 10);
  const { completed = 0, failed = 0, cancelled = 0, expired = 0 } = verdict.outcomes;
  expect(completed).toBeGreaterThan(TASKS / 2);
  expect(failed * cancelled * expired).toBeGreaterThan(0);
});

it("can be drawn", () => {
  const drawing = picture(evidence.samples, "a short run");
  expect(drawing.match(/<polyline/g)).toHaveLength(6);
  expect(drawing).not.toMatch(/NaN|Infinity|undefined/);
});

it("would notice a lost, a wrong and a repeated outcome", () => {
  // One that was cancelled before it ran may well be told by its rejection alone.
  const completed = evidence.deliveries.filter(({ status }) => status === "completed");
  const [first] = completed;
  const second = completed.find(({ number }) => number !== first?.number);
  if (first === undefined || second === undefined) throw new Error("nothing was delivered");
  const others = evidence.deliveries.filter(
    ({ number }) => number !== first.number && number !== second.number,
  );
  const twisted = { ...second, outcome: '"another"', status: "failed" };
  const found = judge({ ...evidence, deliveries: [second, twisted, ...others] }, { curves: false }).wrong;
  expect(found.join("\n")).toContain(`call ${first.number}: never delivered`);
  expect(found.join("\n")).toContain(`call ${second.number}: delivered with two outcomes`);
});
