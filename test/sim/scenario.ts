/** Owns what a seed stands for: a plain description of a world, from which parts can be left out. It runs nothing. */
import { FAULT_KINDS, OWN_CHANCE_FAULTS, type FaultKind } from "./faults.js";
import { createRandom, type Random } from "./random.js";

/** A question that a task puts. */
export interface QuestionSpec {
  readonly key: string;
  readonly kind: "form" | "url" | "sampling" | "roots";
  /** From the moment at which the task begins to ask. */
  readonly afterMs: number;
}

/** One call, and what the server makes of it. */
export interface CallSpec {
  readonly n: number;
  readonly server: number;
  readonly host: number;
  readonly tool: string;
  /** The host gives an id of its own, and asks again by it. */
  readonly hasId: boolean;
  readonly onUnknownOutcome: "fail" | "retry";
  readonly startMs: number;
  readonly timeoutMs: number;
  readonly waitMs: number;
  readonly makes: "task" | "result" | "error";
  /** Multi-round trips before that. */
  readonly rounds: number;
  readonly workMs: number;
  readonly restMs: number;
  readonly questions: readonly QuestionSpec[];
  readonly end: "completed" | "isError" | "failed" | "cancelled" | "never";
  readonly ttlMs: number | null;
  readonly intervalMs: number | undefined;
  /** The handle itself says that the task is over already. */
  readonly endsAtOnce: boolean;
  readonly abortAfterMs: number | undefined;
  readonly cancelAfterMs: number | undefined;
  readonly forgetAfterMs: number | undefined;
  readonly obeysCancel: boolean;
}

export interface HostSpec {
  readonly index: number;
  /** Answers questions; without it they stay open for others. */
  readonly hasHandler: boolean;
  readonly takesOutcomes: boolean;
  readonly scope: string;
  readonly startMs: number;
  /** Stays away for good after its last crash. */
  readonly leavesForGood: boolean;
}

export interface ServerSpec {
  readonly index: number;
  readonly pushes: boolean;
  readonly keepAliveMs: number;
  readonly latencyMs: number;
}

export interface Scenario {
  readonly seed: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** How long things go wrong. */
  readonly stormMs: number;
  readonly pace: number;
  readonly servers: readonly ServerSpec[];
  readonly hosts: readonly HostSpec[];
  readonly calls: readonly CallSpec[];
  readonly store: { readonly cas: boolean; readonly iterates: boolean; readonly latencyMs: number };
  readonly client: {
    readonly push: "auto" | "always" | "off";
    readonly concurrency: number;
    readonly onLateHandle: "track" | "cancel";
    readonly lateAnswerMs: number;
    readonly storeWatchMs: number;
    readonly leaseMs: number;
  };
}

/** What is left out of a scenario when a failure is made smaller. */
export interface Omission {
  readonly without?: readonly FaultKind[];
  readonly calls?: readonly number[];
  readonly hosts?: readonly number[];
}

const TOOLS = ["work", "work", "work", "safe", "reading"] as const;
const QUESTION_KINDS = ["form", "form", "form", "url", "sampling", "roots"] as const;

export function scenarioOf(seed: number, omit: Omission = {}): Scenario {
  const random = createRandom(`scenario ${seed}`);
  const pace = random.pick([1, 1, 1, 1, 5, 20]);
  const hostCount = random.pick([1, 1, 2, 2, 3]);
  const serverCount = random.pick([1, 1, 2]);
  const full: Scenario = {
    seed,
    faults: someFaults(random.fork("faults")),
    stormMs: random.int(60_000, 420_000) * pace,
    pace,
    servers: upTo(serverCount, (index) => server(random.fork(`server ${index}`), index)),
    hosts: upTo(hostCount, (index) => host(random.fork(`host ${index}`), index)),
    calls: upTo(random.int(2, 6), (n) => call(random.fork(`call ${n}`), { n, pace, hostCount, serverCount })),
    store: {
      cas: random.chance(0.75),
      iterates: random.chance(0.7),
      latencyMs: random.pick([0, 0, 0, 1, 3, 20]),
    },
    client: {
      push: random.pick(["auto", "auto", "auto", "always", "off"]),
      concurrency: random.pick([1, 2, 16, 16, 16]),
      onLateHandle: random.pick(["track", "track", "track", "cancel"]),
      lateAnswerMs: random.pick([300_000, 60_000]),
      storeWatchMs: 2000 * pace,
      leaseMs: 15_000 * pace,
    },
  };
  return leaveOut(full, omit);
}

function leaveOut(full: Scenario, { without = [], calls, hosts }: Omission): Scenario {
  const faults = Object.fromEntries(
    Object.entries(full.faults).filter(([kind]) => !without.includes(kind as FaultKind)),
  );
  const kept = full.hosts.filter(({ index }) => hosts?.includes(index) !== false);
  const lives = new Set(kept.map(({ index }) => index));
  const first = kept[0]?.index ?? 0;
  return {
    ...full,
    faults,
    hosts: kept,
    calls: full.calls
      .filter(({ n }) => calls?.includes(n) !== false)
      .map((one) => (lives.has(one.host) ? one : { ...one, host: first })),
  };
}

/** Not everything at once: what one fault always hides is found by the worlds that lack it. */
function someFaults(random: Random): Scenario["faults"] {
  const part = random.pick([0.1, 0.3, 0.3, 0.5]);
  const heat = random.pick([0.3, 1, 1, 2]);
  const some = (kinds: readonly FaultKind[], chance: Random): [FaultKind, number][] =>
    kinds
      .filter(() => chance.chance(part))
      .map((kind) => [kind, chance.pick([0.02, 0.06, 0.15, 0.3]) * heat]);
  const hasOwn: ReadonlySet<FaultKind> = new Set(OWN_CHANCE_FAULTS);
  const first = FAULT_KINDS.filter((kind) => !hasOwn.has(kind));
  const own = OWN_CHANCE_FAULTS.flatMap((kind) => some([kind], random.fork(kind)));
  return Object.fromEntries([...some(first, random), ...own]);
}

function server(random: Random, index: number): ServerSpec {
  return {
    index,
    pushes: random.chance(0.6),
    keepAliveMs: random.pick([15_000, 25_000, 40_000]),
    latencyMs: random.pick([1, 5, 30, 200]),
  };
}

function host(random: Random, index: number): HostSpec {
  // Most share one principal; the last of three may be another's.
  const scope = index === 2 && random.chance(0.4) ? "other" : "default";
  return {
    index,
    hasHandler: random.chance(0.85),
    takesOutcomes: true,
    scope,
    startMs: index === 0 ? 0 : random.int(0, 20_000),
    // Of each scope somebody stays.
    leavesForGood: index > 0 && scope === "default" && random.chance(0.4),
  };
}

function call(
  random: Random,
  all: { n: number; pace: number; hostCount: number; serverCount: number },
): CallSpec {
  const { n, pace } = all;
  const intervalMs = random.pick([undefined, 500, 1000, 2000, 5000, 10_000]);
  const unit = (intervalMs ?? 1000) * pace;
  const workMs = random.int(0, 12) * unit;
  const restMs = random.int(0, 8) * unit;
  const makes = random.pick(["task", "task", "task", "task", "task", "result", "error"] as const);
  const end = random.pick([
    "completed",
    "completed",
    "completed",
    "isError",
    "failed",
    "cancelled",
    "never",
  ] as const);
  const questions = upTo(random.pick([0, 0, 0, 1, 1, 2, 3]), (q) => ({
    key: `q${n}-${q}`,
    kind: random.pick(QUESTION_KINDS),
    afterMs: random.pick([0, 0, unit, 3 * unit]),
  }));
  const some = (part: number, most: number): number | undefined =>
    random.chance(part) ? random.int(0, most) : undefined;
  return {
    n,
    server: random.int(0, all.serverCount - 1),
    host: random.int(0, all.hostCount - 1),
    tool: random.pick(TOOLS),
    hasId: random.chance(0.75),
    onUnknownOutcome: random.chance(0.12) ? "retry" : "fail",
    startMs: random.int(0, 60_000) * (random.chance(0.5) ? 1 : pace),
    timeoutMs: random.pick([60_000, 60_000, 20_000, 5000]),
    waitMs: random.pick([0, 0, 0, 10_000]),
    makes,
    rounds: random.pick([0, 0, 0, 0, 1, 2]),
    workMs,
    restMs,
    questions,
    end,
    // What never ends must have a time to live, or nobody could say when it is over.
    ttlMs: end === "never" ? 20 * unit : random.pick([null, null, 40 * unit, 400 * unit, 12 * unit]),
    intervalMs: intervalMs === undefined ? undefined : intervalMs * pace,
    endsAtOnce: random.chance(0.06),
    abortAfterMs: some(0.2, 20_000),
    cancelAfterMs: some(0.3, 60_000 * pace),
    forgetAfterMs: some(0.15, 120_000 * pace),
    obeysCancel: random.chance(0.7),
  };
}

function upTo<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
