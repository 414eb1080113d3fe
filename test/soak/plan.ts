/** Owns what every call of a soak run does and must come to: a pure function of its number and the seed, so that host and judge agree. */
import type { JsonObject } from "../../src/index.js";

/** How long and how much. All times in milliseconds. */
export interface SoakPlan {
  readonly seed: number;
  readonly tasks: number;
  /** Calls arrive evenly over this time. */
  readonly arrivalMs: number;
  /** Tasks live between these. */
  readonly minLifeMs: number;
  readonly maxLifeMs: number;
  readonly sampleMs: number;
  readonly servers: readonly string[];
}

/** What the host is told. */
export interface HostPlan extends SoakPlan {
  readonly urls: readonly string[];
  readonly storePath: string;
  /** A JSON line per delivery ({@link Delivered}), per call that rejected, per sample. */
  readonly deliveries: string;
  readonly rejected: string;
  readonly samples: string;
}

/** One call. */
export interface SoakCall {
  readonly number: number;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly approve: boolean;
  readonly answerAfterMs: number;
  /** The handler answers nothing, and `respond` does it later. */
  readonly defers: boolean;
  readonly cancelAfterMs: number | undefined;
  /** The first `onSettled` fails. */
  readonly failsDelivery: boolean;
  readonly waits: "result" | "updates" | "not";
  readonly expected: Expected;
}

/** A part of what must be delivered. */
export interface Expected {
  readonly status: "completed" | "failed" | "cancelled" | "lost";
  readonly reason?: string;
  /** What the outcome must contain as text. */
  readonly contains: readonly string[];
}

/** A delivery, as the host wrote it. */
export interface Delivered {
  readonly number: number;
  readonly status: string;
  readonly reason: string | undefined;
  /** Result or error, as JSON. */
  readonly outcome: string;
}

/** A look at the host, after a collection of garbage. */
export interface Sample {
  readonly atMs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly live: number;
  readonly called: number;
  readonly delivered: number;
  /** Event-loop delay since the last sample, in milliseconds. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly timers: number;
  readonly sockets: number;
  /** Listeners on the one signal that all calls and waits were given. */
  readonly listeners: number;
  readonly requests: number;
  readonly storeWrites: number;
}

/** What the host says at its end. */
export interface HostEnd {
  readonly warnings: readonly string[];
  readonly errors: Readonly<Record<string, number>>;
  readonly asked: number;
  readonly repeatedQuestions: number;
  readonly stats: JsonObject;
  readonly timersBefore: number;
  /** After everything was delivered, and after close(). */
  readonly timersAfter: number;
  readonly listenersAfter: number;
  readonly heapAfterBytes: number;
  readonly heapBeforeBytes: number;
}

type Kind = readonly [
  weight: number,
  make: (call: Draft) => Pick<SoakCall, "tool" | "arguments" | "expected">,
];

interface Draft {
  readonly number: number;
  readonly lifeMs: number;
  readonly approve: boolean;
}

const completed = (...contains: string[]): Expected => ({ status: "completed", contains });

const KINDS: readonly Kind[] = [
  [
    48,
    ({ number, lifeMs }) => ({
      tool: "slow",
      arguments: { ms: lifeMs, text: `dish ${number}.` },
      expected: completed(`dish ${number}.`),
    }),
  ],
  [
    16,
    ({ number, lifeMs, approve }) => ({
      tool: "deploy",
      arguments: { env: `env-${number}`, ms: Math.floor(lifeMs / 2), afterMs: Math.floor(lifeMs / 4) },
      expected: completed(`"${approve ? "deployed" : "not deployed"} to env-${number}"`, `"note ${number}."`),
    }),
  ],
  [
    5,
    ({ number, lifeMs }) => ({
      tool: "two_questions",
      arguments: { ms: lifeMs },
      expected: completed("answered", `"name ${number}."`, number % 2 === 0 ? '"small"' : '"large"'),
    }),
  ],
  [
    8,
    ({ number, lifeMs }) => ({
      tool: "fail_rpc",
      arguments: { ms: lifeMs, code: -32050, message: `failure ${number}.` },
      expected: { status: "failed", contains: [`failure ${number}.`, "-32050"] },
    }),
  ],
  [
    5,
    ({ number, lifeMs }) => ({
      tool: "fail_result",
      arguments: { ms: lifeMs, text: `red ${number}.` },
      expected: completed(`red ${number}.`, '"isError":true'),
    }),
  ],
  [
    7,
    () => ({
      tool: "cancellable",
      arguments: { ms: 3_600_000, lagMs: 500 },
      expected: { status: "cancelled", contains: [] },
    }),
  ],
  [
    3,
    ({ lifeMs }) => ({
      tool: "stubborn",
      arguments: { ms: lifeMs },
      expected: completed("completed all the same"),
    }),
  ],
  [
    2,
    ({ lifeMs }) => ({
      tool: "short_lived",
      arguments: { ttlMs: lifeMs, ms: 3_600_000 },
      expected: { status: "lost", reason: "expired", contains: [] },
    }),
  ],
  [
    3,
    ({ number, lifeMs }) => ({
      tool: "round_trip",
      arguments: { rounds: 2, ms: lifeMs },
      expected: completed("after 2 rounds", `"name ${number}."`),
    }),
  ],
  [
    3,
    ({ lifeMs }) => ({ tool: "flaky", arguments: { failures: 2, ms: lifeMs }, expected: completed("done") }),
  ],
];
const CANCELLED_TOOLS = ["cancellable", "stubborn"];

/** The call of this number, from 0. */
export function callOf(plan: SoakPlan, number: number): SoakCall {
  const random = seeded(plan.seed * 1_000_003 + number);
  const between = (min: number, max: number): number => Math.floor(min + random() * (max - min));
  const lifeMs = between(plan.minLifeMs, plan.maxLifeMs);
  const approve = random() < 0.8;
  const { tool, arguments: args, expected } = pick(random())({ number, lifeMs, approve });
  return {
    number,
    server: plan.servers[between(0, plan.servers.length)] ?? "",
    tool,
    // The server ignores it, and its log shows whose call it was.
    arguments: { ...args, run: number },
    approve,
    answerAfterMs: between(0, lifeMs / 4),
    defers: random() < 0.3,
    cancelAfterMs: CANCELLED_TOOLS.includes(tool) ? between(0, lifeMs) : undefined,
    failsDelivery: random() < 0.05,
    waits: random() < 0.5 ? "result" : random() < 0.5 ? "updates" : "not",
    expected,
  };
}

function pick(chance: number): Kind[1] {
  const total = KINDS.reduce((sum, [weight]) => sum + weight, 0);
  let left = chance * total;
  for (const [weight, make] of KINDS) {
    left -= weight;
    if (left < 0) return make;
  }
  throw new Error("chance must be below 1");
}

/** A small generator (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
