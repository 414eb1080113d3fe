/** Owns the targets of how hosts answer questions: the options of `respond`, and what an `unanswered` function says. */
import fc from "fast-check";
import { TaskClient } from "../../src/index.js";
import { planAnswer } from "../../src/engine/answerWindow.js";
import type { TaskInputRequest } from "../../src/engine/types.js";
import { scriptedConnection } from "../../src/testing/index.js";
import { judged, judgedAsync, must, refusal, structure, type Verdict } from "./guard.js";
import { anyValue, hostileText, PLANTED } from "./hostile.js";
import { options } from "./hostileOptions.js";
import { askingServer, closeShared, sharedClient } from "./sharedClient.js";

const QUESTIONS = 50;
let answered = 0;

/** Options that are wrong store nothing: the question is still open. */
async function respondOptions([given, version]: [unknown, "given" | "shown" | "other"]): Promise<Verdict> {
  if (answered === QUESTIONS) {
    answered = 0;
    await closeShared();
  }
  const { client, id, versions } = await sharedClient(QUESTIONS);
  const key = `k${answered}`;
  const shown = { version: version === "shown" ? versions.get(key) : `not ${String(versions.get(key))}` };
  const all = version === "given" || typeof given !== "object" ? given : { ...given, ...shown };
  const verdict = await judgedAsync(() => client.respond(id, key, { action: "decline" }, all as never), {
    named: ["by", "version", "options", "unknown option"],
    shows: "server text",
  });
  const task = await client.task(id);
  const isOpen = task?.pendingInputs.some((input) => input.key === key) === true;
  if (verdict === "accepted") answered += 1;
  // Another client begins with its own questions; the count of the old one is nobody's.
  must(isOpen === (verdict === "refused"), "a refused answer is stored, or a stored one is lost");
  if (verdict === "accepted") {
    const by = task?.answers.find((one) => one.key === key)?.by;
    must(by === undefined || (typeof by === "string" && by !== "" && by.length <= 256), "answered by nobody");
    must(version !== "other" || typeof given !== "object", "an answer to another question is stored");
  }
  return verdict;
}

/** Objects that do something when they are looked at. */
const TRAPS: readonly (() => unknown)[] = [
  () => ({
    get afterMs(): number {
      throw new Error(PLANTED);
    },
  }),
  () => ({
    afterMs: 0,
    get response(): unknown {
      throw new RangeError(PLANTED);
    },
  }),
  () => ({
    afterMs: 0,
    response: {
      get action(): string {
        throw new Error(PLANTED);
      },
    },
  }),
  () => ({
    afterMs: 0,
    response: {
      action: "accept",
      content: {
        get a(): string {
          throw new Error(PLANTED);
        },
      },
    },
  }),
  () =>
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error(PLANTED);
        },
      },
    ),
  () =>
    new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error(PLANTED);
        },
      },
    ),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  () => ({ afterMs: { valueOf: () => 1 } }),
  () => ({ afterMs: 0, response: { action: "accept", content: { a: "x".repeat(200_000) } } }),
  () => Promise.reject(new Error(PLANTED)),
];

/** What is given is made anew for each input: some of it can be looked at once only. */
interface Said {
  readonly throws: boolean;
  readonly make: () => unknown;
}

const afterMs = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown>(0, 0, 1, 5, 1e6, 1e14) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(-1, NaN, Infinity, 1e15, 8.64e15, 1e308, "5", -0, 5e-324),
  },
  { weight: 1, arbitrary: anyValue },
);
const response = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      { action: "cancel" },
      { action: "decline" },
      { action: "accept", content: { a: "b" } },
      undefined,
    ),
  },
  { weight: 2, arbitrary: anyValue.map((a): unknown => ({ action: "accept", content: { a } })) },
  { weight: 1, arbitrary: anyValue },
);
const said: fc.Arbitrary<Said> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(afterMs, response).map(([after, given]): Said => ({
      throws: false,
      make: () => ({ afterMs: after, response: given }),
    })),
  },
  { weight: 2, arbitrary: fc.constantFrom(...TRAPS).map((make): Said => ({ throws: false, make })) },
  {
    weight: 1,
    arbitrary: fc.tuple(afterMs, hostileText, anyValue).map(([after, name, value]): Said => ({
      throws: false,
      make: () => ({ afterMs: after, [name]: value }),
    })),
  },
  { weight: 2, arbitrary: anyValue.map((value): Said => ({ throws: false, make: () => value })) },
  { weight: 1, arbitrary: anyValue.map((value): Said => ({ throws: true, make: () => value })) },
);

const REQUEST = { kind: "elicitation-form", key: "k0", message: "?" } as unknown as TaskInputRequest;

/** Of what a function says there is a plan that timers and dates can take, or an error that names what is wrong. */
function plan({ throws, make }: Said): Verdict {
  if (throws) return "refused";
  let planned: ReturnType<typeof planAnswer>;
  let isTrap = false;
  const verdict = judged(
    () => {
      try {
        planned = planAnswer(() => make() as never, REQUEST);
      } catch (error) {
        // What the host's own objects throw is the host's, and told as the cause of a CallbackError.
        isTrap = error instanceof Error && (error.message === PLANTED || /proxy/.test(error.message));
        if (!isTrap) throw error;
      }
    },
    { named: ["the answer of unanswered"], shows: "server text" },
  );
  if (verdict === "refused" || isTrap) return "refused";
  if (planned === undefined) return "accepted";
  const at = new Date(Date.now() + planned.afterMs);
  must(planned.afterMs >= 0 && !Number.isNaN(at.getTime()), "a plan for no instant");
  must(typeof planned.response === "object", "a plan without an answer");
  return "accepted";
}

/** Whatever it says: people still see their question, and can answer it; the host hears of errors of ours alone. */
async function unanswered({ throws, make }: Said): Promise<Verdict> {
  const told: unknown[] = [];
  const client = new TaskClient({
    capabilities: { elicitation: {} },
    push: "off",
    poll: { minIntervalMs: 1, defaultIntervalMs: 1, maxIntervalMs: 2, jitter: 0 },
    storeWatchMs: 5,
    unanswered() {
      const value = make();
      if (throws) throw value;
      return value as undefined;
    },
  });
  client.on("error", ({ error }) => told.push(error));
  try {
    await client.connect("srv", scriptedConnection(askingServer(1)));
    const call = await client.callTool("srv", { name: "t" }, { callId: "asks" });
    if (call.kind === "result") throw new Error("no task");
    const { task } = call;
    while (task.pendingInputs.length === 0 && task.answers.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 1));
    const [open] = await client.pendingInputs();
    JSON.stringify(open);
    const policy = open?.unanswered;
    if (policy !== undefined) {
      must(!Number.isNaN(policy.at.getTime()), "the policy answers at no instant");
      must(typeof policy.action === "string", "the policy answers nothing");
    }
    // A policy that answers at once has its turn.
    await new Promise((resolve) => setTimeout(resolve, 3));
    await judgedAsync(() => task.respond("k0", { action: "decline" }), { shows: "server text" });
    must(task.answers.length === 1, "a question that nobody could answer");
    told.forEach((error) => refusal(error));
    return policy !== undefined || task.answers[0]?.source === "policy" ? "accepted" : "refused";
  } finally {
    await client.close({ timeoutMs: 20 });
  }
}

export const answerTargets = [
  structure(
    "respond: by, version",
    3,
    fc.tuple(
      options(
        ["by", "version"],
        {},
        {
          by: fc.oneof(fc.constantFrom<unknown>("ann", "", "x".repeat(256), "x".repeat(257)), hostileText),
        },
      ),
      fc.constantFrom("given" as const, "shown" as const, "other" as const),
    ),
    respondOptions,
  ),
  structure("unanswered: what a function says", 3, said, plan),
  structure("unanswered: a client asks it", 0.5, said, unanswered),
];
