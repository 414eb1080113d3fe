/** Owns the list of moments at which a worker is killed, by name, and what each must lead to. */
import type { RequestMoment } from "../../src/testing/index.js";
import type { KillPoint, Place } from "./plan.js";
import { scenarios, type ScenarioName } from "./scenarios.js";

/**
 * What a run must come to. once: the call ran once and its outcome was delivered. unknown: the kill fell between the
 * journaled intent and the recorded answer, so nobody can know. never: nothing was journaled and nobody called again.
 */
export type Expected = "once" | "unknown" | "never";

/** A moment; `kills` has one point per process life that is killed. */
export interface Moment {
  readonly name: string;
  readonly scenario: ScenarioName;
  readonly kills: readonly KillPoint[];
  /** Whether later lives call again with the same call id. */
  readonly replay: boolean;
  /** Undefined where chance decides: then the store, read after the kill, says what must come. */
  readonly expected: Expected | undefined;
}

type Spec = readonly [name: string, point: KillPoint, expected?: Expected];

const request = (method: string, nth: number, when: RequestMoment): KillPoint => ({
  at: "request",
  method,
  nth,
  when,
});
const store = (nth: number, when: "before" | "after"): KillPoint => ({
  at: "write",
  entry: "record",
  nth,
  when,
});
const place = (name: Place, nth = 1): KillPoint => ({ at: "place", name, nth });
const input = (nth: number, when: "asked" | "returning"): KillPoint => place(when, nth);
const settled = (when: "before" | "written" | "waiting"): KillPoint => place(`settled: ${when}`);
const program = (when: "connected" | "called" | "cancelled"): KillPoint => place(when);

/** The n-th `tools/call` at all its points. Unsent or not, it is journaled before: only a recorded answer tells. */
const callPoints = (nth: number): Spec[] => [
  ["journaled, not sent", request("tools/call", nth, "before"), "unknown"],
  ["sent", request("tools/call", nth, "sent"), "unknown"],
  ["executed, answer unread", request("tools/call", nth, "executed"), "unknown"],
  ["headers of the answer read", request("tools/call", nth, "headers"), "unknown"],
  ["answer received, not recorded", request("tools/call", nth, "answered"), "unknown"],
];

const followUpPoints = (method: string, nth: number): Spec[] => [
  ["not sent", request(method, nth, "before")],
  ["sent", request(method, nth, "sent")],
  ["executed, answer unread", request(method, nth, "executed")],
  ["headers of the answer read", request(method, nth, "headers")],
  ["answer received", request(method, nth, "answered")],
];

/** The three that differ most, for requests whose first of a kind has all five. */
const three = (specs: readonly Spec[]): Spec[] => specs.filter((_, at) => at === 0 || at === 2 || at === 4);

const titled = (title: string, specs: readonly Spec[]): Spec[] =>
  specs.map(([name, ...rest]) => [`${title}: ${name}`, ...rest]);

const settledPoints: Spec[] = [
  ["onSettled: before the host wrote", settled("before")],
  ["onSettled: written, not resolved", settled("written")],
  ["onSettled: about to resolve", settled("waiting")],
];

const byScenario: Readonly<Partial<Record<ScenarioName, readonly Spec[]>>> = {
  immediate: [
    ["before the call", program("connected")],
    ["before the journal", store(1, "before")],
    ["after the journal", store(1, "after"), "unknown"],
    ...titled("tools/call", callPoints(1)),
    ["before the result is stored", store(2, "before"), "unknown"],
    ["after the result is stored", store(2, "after")],
    ...settledPoints,
    ["before the delivery is stored", store(3, "before")],
    ["after the delivery is stored", store(3, "after")],
  ],
  task: [
    ["before the call", program("connected")],
    ["before the journal", store(1, "before")],
    ["after the journal", store(1, "after"), "unknown"],
    ...titled("tools/call", callPoints(1)),
    ["before the handle is stored", store(2, "before"), "unknown"],
    ["after the handle is stored", store(2, "after")],
    ["handle in the host's hands", program("called")],
    ...titled("first poll", followUpPoints("tasks/get", 1)),
    ["terminal snapshot, before it is stored", store(3, "before")],
    ["terminal snapshot, after it is stored", store(3, "after")],
    ...settledPoints,
    ["before the delivery is stored", store(4, "before")],
    ["after the delivery is stored", store(4, "after")],
  ],
  longTask: [
    ["between the polls", request("tasks/get", 1, "later")],
    ...titled("second poll", three(followUpPoints("tasks/get", 2))),
  ],
  approval: [
    ["question shown", input(1, "asked")],
    ["answer about to be returned", input(1, "returning")],
    ["before the question is stored", store(3, "before")],
    ["after the question is stored", store(3, "after")],
    ["before the answer is stored", store(4, "before")],
    ["after the answer is stored", store(4, "after")],
    ...titled("tasks/update", followUpPoints("tasks/update", 1)),
    ["before the acknowledgement is stored", store(5, "before")],
    ["after the acknowledgement is stored", store(5, "after")],
    ["before the status is stored", store(6, "before")],
    ["after the status is stored", store(6, "after")],
    ["before the outcome is stored", store(7, "before")],
    ["onSettled: before the host wrote", settled("before")],
  ],
  twoQuestions: [
    ["first question shown", input(1, "asked")],
    ["second question shown", input(2, "asked")],
    ["first answer about to be returned", input(1, "returning")],
    ["second answer about to be returned", input(2, "returning")],
    ...titled("first update", followUpPoints("tasks/update", 1)),
    ...titled("second update", three(followUpPoints("tasks/update", 2))),
  ],
  oneAfterTheOther: [
    ["second question shown", input(2, "asked")],
    ["second answer about to be returned", input(2, "returning")],
    ["second update: executed, answer unread", request("tasks/update", 2, "executed")],
  ],
  roundTrip: [
    ["first round: executed, answer unread", request("tools/call", 1, "executed"), "unknown"],
    ["before the first question is stored", store(2, "before"), "unknown"],
    ["after the first question is stored", store(2, "after")],
    ["first question shown", input(1, "asked")],
    ["first answer about to be returned", input(1, "returning")],
    ["before the first answer is stored", store(3, "before")],
    ["after the first answer is stored", store(3, "after")],
    ["before the second call is journaled", store(4, "before")],
    ["after the second call is journaled", store(4, "after"), "unknown"],
    ...titled("second tools/call", callPoints(2)),
    ["second question shown", input(2, "asked")],
    ["second answer about to be returned", input(2, "returning")],
    ...titled("third tools/call", three(callPoints(3))),
    ["handle in the host's hands", program("called")],
  ],
  failing: [
    ["first poll: answer received", request("tasks/get", 1, "answered")],
    ["before the failure is stored", store(3, "before")],
    ["after the failure is stored", store(3, "after")],
    ...settledPoints,
  ],
  cancelled: [
    ["before the request to cancel is stored", store(3, "before")],
    ["after the request to cancel is stored", store(3, "after")],
    ...titled("tasks/cancel", followUpPoints("tasks/cancel", 1)),
    ["before the acknowledgement is stored", store(4, "before")],
    ["acknowledged", program("cancelled")],
    ["onSettled: before the host wrote", settled("before")],
  ],
  sampling: [
    ["question shown", input(1, "asked")],
    ["answer about to be returned", input(1, "returning")],
    ["tasks/update: executed, answer unread", request("tasks/update", 1, "executed")],
  ],
};

/** Kills during the restart after a kill, too. */
const twice: readonly (readonly [name: string, ScenarioName, KillPoint, KillPoint])[] = [
  [
    "between the polls, then at the first poll",
    "longTask",
    request("tasks/get", 1, "later"),
    request("tasks/get", 1, "executed"),
  ],
  ["question shown, then shown again", "approval", input(1, "asked"), input(1, "returning")],
  ["answer stored, then sent again", "approval", store(4, "after"), request("tasks/update", 1, "executed")],
  ["outcome stored, then written", "task", store(3, "after"), settled("written")],
  ["round answered, then connected", "roundTrip", store(3, "after"), program("connected")],
];

const RANDOM_KILLS = 8;
const RANDOM_WITHIN_MS = 700;

/** Every moment. Without a recorded call only a host that calls again gets anywhere, so some run both ways. */
export function allMoments(): Moment[] {
  const moments: Moment[] = [];
  for (const name of Object.keys(scenarios) as ScenarioName[]) {
    for (const [at, point, expected = "once"] of byScenario[name] ?? []) {
      // Replaying hosts and those that only resume, in turn.
      const replay = moments.length % 2 === 0;
      const unjournaled = isBeforeJournal(point);
      moments.push({
        name: `${name}: ${at}`,
        scenario: name,
        kills: [point],
        replay,
        expected: unjournaled && !replay ? "never" : expected,
      });
    }
  }
  for (const [at, scenario, first, second] of twice) {
    const name = `twice, ${scenario}: ${at}`;
    moments.push({ name, scenario, kills: [first, second], replay: true, expected: "once" });
  }
  const random = seeded(20_260_728);
  for (let i = 1; i <= RANDOM_KILLS; i += 1) {
    const afterMs = Math.floor(random() * RANDOM_WITHIN_MS);
    moments.push({
      name: `random ${i}: ${afterMs} ms after connecting`,
      scenario: "long",
      kills: [{ at: "parent", afterMs }],
      replay: i % 2 === 0,
      expected: undefined,
    });
  }
  return moments;
}

function isBeforeJournal(point: KillPoint): boolean {
  if (point.at === "place") return point.name === "connected";
  return point.at === "write" && point.nth === 1 && point.when === "before";
}

/** A small generator (mulberry32): the same kills on every run of the suite. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
