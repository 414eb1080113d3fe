/**
 * Whole lives in virtual time: a server whose network fails at random, a host whose process is killed at random, and
 * what must hold all the same. A seed that fails is repeated by its number.
 */
import { expect, test } from "vitest";
import {
  ConnectionError,
  RpcError,
  type Settled,
  type TaskClient,
  type TaskInputRequest,
} from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { memoryStore } from "../../src/store/memory.js";
import type { KeyValueStore } from "../../src/store/types.js";
import { scriptedConnection, type FakeClock, type ScriptedRequest } from "../../src/testing/index.js";
import {
  ack,
  asks,
  done,
  form,
  handle,
  makeClient,
  state,
  text,
  virtualClock,
  virtualGlobals,
} from "./support.js";

const CALLS = 6;
const INTERVAL_MS = 1000;
const STORM_MS = 120_000;

type Random = () => number;

function seeded(seed: number): Random {
  let now = seed * 2_654_435_761 + 1;
  return () => {
    now = (Math.imul(now ^ (now >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((now ^ (now >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** A server with tasks, behind a network that fails while the storm lasts. */
function simulatedServer(clock: FakeClock, random: Random) {
  const executed = new Map<number, number>();
  const doubtful = new Set<number>();
  const tasks = new Map<
    string,
    { n: number; endsAtMs: number; answers: Map<string, string>; polledAtMs: number }
  >();
  const problems: string[] = [];
  const storm = (): boolean => clock.monotonic() < STORM_MS;
  const chance = (part: number): boolean => storm() && random() < part;

  function before(): Error | undefined {
    if (chance(0.15)) return new ConnectionError("refused", { mayHaveRun: false });
    if (chance(0.05))
      return new ConnectionError("busy", { mayHaveRun: false, status: 429, retryAfterMs: 3000 });
    return undefined;
  }
  function after(): Error | "hang" | undefined {
    if (chance(0.08)) return new ConnectionError("reset", { mayHaveRun: true });
    if (chance(0.05)) return new ConnectionError("HTTP 503", { mayHaveRun: true, status: 503 });
    return chance(0.04) ? "hang" : undefined;
  }

  function call({ params }: ScriptedRequest): JsonObject | Error | "hang" {
    const failed = before();
    if (failed !== undefined) return failed;
    const { n } = params["arguments"] as { n: number };
    executed.set(n, (executed.get(n) ?? 0) + 1);
    const isTask = n % 3 !== 0;
    if (isTask) {
      const endsAtMs = clock.monotonic() + 5000 + random() * 60_000;
      tasks.set(`task-secret-${n}`, { n, endsAtMs, answers: new Map(), polledAtMs: clock.monotonic() });
    }
    const lost = after();
    if (lost === undefined)
      return isTask
        ? handle({ taskId: `task-secret-${n}`, pollIntervalMs: INTERVAL_MS })
        : text(`result ${n}`);
    doubtful.add(n);
    return lost;
  }

  function get({ params }: ScriptedRequest): JsonObject | Error | "hang" {
    const taskId = params["taskId"] as string;
    const task = tasks.get(taskId);
    if (task === undefined) return new RpcError({ code: -32602, message: "unknown" });
    if (clock.monotonic() - task.polledAtMs < INTERVAL_MS) problems.push(`${taskId} is polled too soon`);
    task.polledAtMs = clock.monotonic();
    const failed =
      before() ?? after() ?? (chance(0.05) ? new RpcError({ code: -32603, message: "internal" }) : undefined);
    if (failed !== undefined) return failed;
    if (chance(0.05)) return { resultType: "complete", status: "working" };
    const more = { taskId, pollIntervalMs: INTERVAL_MS };
    const open = questionsOf(task.n).filter((key) => !task.answers.has(key));
    if (open.length > 0) return asks(Object.fromEntries(open.map((key) => [key, form(key)])), more);
    return clock.monotonic() < task.endsAtMs ? state(more) : done(`result ${task.n}`, more);
  }

  function update({ params }: ScriptedRequest): JsonObject | Error | "hang" {
    const failed = before();
    if (failed !== undefined) return failed;
    const task = tasks.get(params["taskId"] as string);
    for (const [key, response] of Object.entries(params["inputResponses"] as JsonObject)) {
      const given = JSON.stringify(response);
      const earlier = task?.answers.get(key);
      if (earlier !== undefined && earlier !== given) problems.push(`${key} has two answers`);
      task?.answers.set(key, given);
    }
    return after() ?? ack;
  }

  return {
    script: { "tools/call": call, "tasks/get": get, "tasks/update": update, "tools/list": { tools: [] } },
    executed,
    doubtful,
    problems,
  };
}

const questionsOf = (n: number): string[] => (n % 3 === 2 ? [`a${n}`, `b${n}`] : []);

/** A process of the host: when it is killed, nothing of it reaches the store or the server any more. */
function startProcess(
  clock: FakeClock,
  random: Random,
  shared: {
    store: KeyValueStore;
    server: ReturnType<typeof simulatedServer>;
    onSettled: (settled: Settled) => void;
    /** The part of writes that the store refuses while the storm lasts. */
    refusals: number;
  },
) {
  let killed = false;
  const admit = async (): Promise<void> => {
    if (killed) await hang();
    if (clock.monotonic() < STORM_MS && random() < shared.refusals) throw new Error("the disk is full");
  };
  const hang = (): Promise<never> => new Promise(() => undefined);
  const shown: string[] = [];
  const { store } = shared;
  const own: KeyValueStore = {
    kind: store.kind,
    get: (key) => (killed ? hang() : store.get(key)),
    set: (key, value, ttlMs) => admit().then(() => store.set(key, value, ttlMs)),
    delete: (key) => admit().then(() => store.delete(key)),
    entries: (prefix) => store.entries!(prefix),
    setIfAbsent: (key, value, ttlMs) => admit().then(() => store.setIfAbsent!(key, value, ttlMs)),
    setIfUnchanged: (key, seen, value, ttlMs) =>
      admit().then(() => store.setIfUnchanged!(key, seen, value, ttlMs)),
  };
  const alive =
    (step: (request: ScriptedRequest) => JsonObject | Error | "hang") =>
    (request: ScriptedRequest): JsonObject | Error | "hang" =>
      killed ? "hang" : step(request);
  const { script } = shared.server;
  const connection = scriptedConnection(
    {
      ...script,
      "tools/call": alive(script["tools/call"]),
      "tasks/get": alive(script["tasks/get"]),
      "tasks/update": alive(script["tasks/update"]),
    },
    { clock },
  );
  const client = makeClient(clock, {
    store: own,
    instance: "host",
    random,
    answerGraceMs: 1e9,
    async onInputRequest({ key, id }: TaskInputRequest) {
      shown.push(`${id} ${key}`);
      await new Promise<void>((resolve) => clock.setTimer(random() * 20_000, resolve));
      return random() < 0.2 ? undefined : { action: "accept", content: { ok: random() < 0.5 } };
    },
    onSettled(settled) {
      if (killed) return hang();
      if (random() < 0.3) throw new Error("the host's database is down");
      shared.onSettled(settled);
      return undefined;
    },
  });
  return { client, connection, shown, kill: () => void (killed = true) };
}

/** What an agent loop does after a restart: it asks for everything again, by the same ids. */
function askForAll(client: TaskClient): void {
  for (let n = 0; n < CALLS; n += 1) {
    const call = client.callTool(
      "srv",
      { name: "work", arguments: { n, secret: "argument-secret" } },
      { callId: `call-${n}`, timeoutMs: 20_000 },
    );
    // How it ends is told to onSettled, whoever waits for it here.
    call.catch(() => undefined);
  }
}

const SEEDS = Array.from({ length: 25 }, (_, seed) => seed);
const LIVES = [0, 0.2].flatMap((refusals) => SEEDS.map((seed) => ({ seed, refusals })));

test.each(LIVES)(
  "life $seed, with a store that refuses $refusals of its writes",
  async ({ seed, refusals }) => {
    const random = seeded(seed);
    const clock = virtualClock();
    virtualGlobals(clock);
    const store = memoryStore(clock);
    const server = simulatedServer(clock, random);
    const settled = new Map<string, Settled[]>();
    const onSettled = (one: Settled): void => void settled.set(one.id, [...(settled.get(one.id) ?? []), one]);
    let sent = 0;
    for (let life = 0; life < 5; life += 1) {
      const one = startProcess(clock, random, { store, server, onSettled, refusals });
      await one.client.connect("srv", one.connection);
      askForAll(one.client);
      const isLast = life === 4;
      // The last process lives until everything is over; deferred questions are answered by somebody then.
      for (let step = 0; step < (isLast ? 40 : 1); step += 1) {
        await clock.advance(isLast ? 15_000 : random() * 40_000);
        if (isLast && clock.monotonic() > STORM_MS) {
          askForAll(one.client);
          for (const { id, key } of await one.client.pendingInputs()) {
            void one.client.respond(id, key, { action: "decline" }).catch(() => undefined);
          }
        }
      }
      expect(new Set(one.shown).size).toBe(one.shown.length);
      sent += one.connection.requestsOf("tools/call").length;
      if (!isLast) one.kill();
    }
    expect(server.problems).toEqual([]);
    expect(sent).toBeGreaterThan(0);
    for (let n = 0; n < CALLS; n += 1) {
      expect(server.executed.get(n) ?? 0, `executions of call ${n}`).toBeLessThanOrEqual(1);
      const outcomes = settled.get(`call-${n}`) ?? [];
      expect(outcomes.length, `deliveries of call ${n}`).toBeGreaterThan(0);
      for (const outcome of outcomes) {
        if (outcome.status === "lost") expect(outcome.reason).toBe("call-outcome-unknown");
        else expect(outcome).toMatchObject({ status: "completed", result: text(`result ${n}`) });
      }
      // What was answered, and stored, is known.
      if (refusals > 0) continue;
      const isKnown = server.executed.get(n) === 1 && !server.doubtful.has(n);
      if (isKnown) expect(outcomes[0]?.status).toBe("completed");
      // One truth, however often it is told.
      expect(new Set(outcomes.map((outcome) => JSON.stringify([outcome.status]))).size).toBe(1);
    }
    for await (const [key, value] of store.entries("")) {
      expect(String(value)).not.toContain("argument-secret");
      expect(key).not.toContain("task-secret");
    }
  },
);
