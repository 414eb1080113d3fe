/** What can go wrong around a host beside its death: it stands still, its disk is full or read-only, its store goes, comes back, hangs. */
import { rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { spawnTaskServer, type LogEntry, type SpawnedTaskServer } from "../../src/testing/index.js";
import { hasRedis } from "../helpers/redis.js";
import { openStore, recordsIn } from "../kill/openStore.js";
import type { StorePlan } from "../kill/plan.js";
import { compilePrograms, type Programs } from "../process/programs.js";
import { pause, startHost, type TroubleHost } from "./trouble/hosts.js";
import { startMortalRedis, type MortalRedis } from "./trouble/redis.js";
import { mounted, whyNoDisk } from "./trouble/smallDisk.js";

const POLL_MS = 100;
/** More than a disk of two megabytes has. */
const HUGE = "x".repeat(3 * 1024 * 1024);
const LARGE = "x".repeat(300 * 1024);

let programs: Programs;
let server: SpawnedTaskServer;
let hosts: TroubleHost[] = [];
let stores = 0;

beforeAll(() => {
  programs = compilePrograms();
});
afterAll(() => programs.remove());
beforeEach(async () => {
  server = await spawnTaskServer({ strict: true, pollIntervalMs: POLL_MS });
});
afterEach(async () => {
  for (const host of hosts) host.signal("SIGKILL");
  hosts = [];
  await server.stop();
});

const lmdb = (): StorePlan => ({ kind: "lmdb", path: join(programs.folder, `trouble-${(stores += 1)}`) });

async function host(
  store: StorePlan,
  more: Omit<Parameters<typeof startHost>[1], "url" | "store"> = {},
  connect = true,
): Promise<TroubleHost> {
  const started = await startHost(programs, { url: server.url, store, ...more }, connect);
  hosts.push(started);
  return started;
}

function call(to: TroubleHost, id: string, tool: string, args: Record<string, string | number>): void {
  to.order({ do: "call", id, tool, arguments: { ...args, run: id } });
}

const requests = (method: string): LogEntry[] => server.log().filter((entry) => entry.method === method);
const callsOf = (id: string): LogEntry[] =>
  requests("tools/call").filter(({ params }) => (params["arguments"] as { run?: string }).run === id);
const settledOf = (of: TroubleHost, id: string): readonly { status: string; outcome: string }[] =>
  of.seen().flatMap((seen) => (seen.what === "settled" && seen.id === id ? [seen] : []));
const storeErrors = (of: TroubleHost): string[] =>
  of.seen().flatMap((seen) => (seen.what === "error" && seen.code === "STORE" ? [seen.message] : []));

async function phasesIn(plan: StorePlan): Promise<Record<string, string>> {
  const store = openStore(plan);
  try {
    return Object.fromEntries((await recordsIn(store.keyValue)).map(({ id, phase }) => [id, phase]));
  } finally {
    await store.close();
  }
}

describe("a host that stands still (SIGSTOP)", () => {
  it("for longer than the time to live and many intervals: no false expiry, no burst of polls, the outcome (F053)", async () => {
    // The server says a second, and keeps its tasks for an hour.
    for (const method of ["tools/call", "tasks/get"]) {
      await server.addFault({ kind: "patch", fields: { ttlMs: 1000 }, method, times: -1 });
    }
    const one = await host(lmdb());
    const ids = Array.from({ length: 12 }, (_, at) => `c${at}`);
    for (const id of ids) call(one, id, "slow", { ms: 1500, text: `dish ${id}` });
    for (const id of ids) await one.sees({ what: "called", id, how: "task" });
    one.signal("SIGSTOP");
    const before = requests("tasks/get").length;
    await pause(2500);
    one.signal("SIGCONT");
    for (const id of ids) {
      const settled = await one.sees({ what: "settled", id });
      expect(settled).toMatchObject({ status: "completed", outcome: expect.stringContaining(id) as string });
    }
    expect(requests("tasks/get").length - before).toBeLessThanOrEqual(2 * ids.length);
    expect(server.violations()).toEqual([]);
  });

  describe.each(["lmdb", "redis"] as const)("one of two on %s", (kind) => {
    let redis: MortalRedis | undefined;
    let plan: StorePlan;
    beforeEach(async () => {
      redis = kind === "redis" && hasRedis ? await startMortalRedis({ keeps: false }) : undefined;
      plan = redis === undefined ? lmdb() : { kind: "redis", url: redis.url };
    });
    afterEach(() => redis?.stop());
    const can = kind === "lmdb" || hasRedis;

    it.skipIf(!can)(
      "loses its question to the other, and takes back what it shows when it wakes",
      async () => {
        const [a, b] = [await host(plan), await host(plan)];
        call(a, "c", "deploy", { env: "prod", ms: 0, afterMs: 200 });
        await a.sees({ what: "asked" });
        a.signal("SIGSTOP");
        await b.sees({ what: "asked", id: "c" });
        b.order({ do: "answer", note: "from b" });
        await b.sees({ what: "settled", id: "c", status: "completed" });
        a.signal("SIGCONT");
        await a.sees({ what: "withdrawn", id: "c" });
        a.order({ do: "answer", note: "from a" });
        // Whatever it still wanted to send would be there by now.
        await pause(10 * POLL_MS);
        expect(callsOf("c")).toHaveLength(1);
        const [task] = await server.tasks();
        expect(task?.answers).toMatchObject([{ key: "approval", deliveries: 1, conflicts: [] }]);
        expect(task?.answers[0]?.value).toMatchObject({ content: { note: "from b" } });
        expect(a.seen().filter(({ what }) => what === "asked")).toHaveLength(1);
        expect(new Set([...settledOf(a, "c"), ...settledOf(b, "c")].map(({ status }) => status))).toEqual(
          new Set(["completed"]),
        );
      },
    );

    it.skipIf(!can)("with a call that is journaled and not sent: it is sent at most once", async () => {
      const stopAt = { at: "request", method: "tools/call", nth: 1, when: "before" } as const;
      const [a, b] = [await host(plan, { stopAt }), await host(plan)];
      call(a, "c", "count", {});
      const unknown = await b.sees({ what: "settled", id: "c" });
      expect(unknown).toMatchObject({ status: "call-outcome-unknown" });
      a.signal("SIGCONT");
      await a.sees({ what: "called", id: "c" });
      await pause(10 * POLL_MS);
      expect(callsOf("c").length).toBeLessThanOrEqual(1);
      // The one that took over did not know; where the other one's request got through after all, its outcome is told.
      expect(settledOf(b, "c").map(({ status }) => status)).toEqual(["call-outcome-unknown"]);
      for (const { status } of settledOf(a, "c")) expect(status).toBe("completed");
    });
  });
});

describe("a small disk", () => {
  const reason = whyNoDisk();
  if (reason !== undefined) console.warn(`skipped: no file system can be mounted here (${reason})`);

  it.skipIf(reason !== undefined)(
    "that is full: nothing is sent that is not journaled, and what is tracked ends once there is room",
    async () => {
      const disk = mounted("2m");
      try {
        const plan: StorePlan = { kind: "lmdb", path: join(disk.folder, "store") };
        const one = await host(plan);
        call(one, "early", "slow", { ms: 4000, text: "early" });
        await one.sees({ what: "called", id: "early", how: "task" });
        const overAt = Date.now() + 4000;
        disk.fill();
        expect(settledOf(one, "early")).toEqual([]);
        // More than the pages that lmdb has to spare from earlier writes.
        const result = { content: [{ type: "text", text: LARGE }] };
        await server.addFault({ kind: "patch", fields: { result }, method: "tasks/get", times: -1 });
        call(one, "refused", "slow", { ms: 10, text: HUGE });
        await one.sees({ what: "called", id: "refused", how: "STORE", tracked: false });
        expect(callsOf("refused")).toEqual([]);
        // An outcome is told once it is stored.
        await pause(overAt + 1500 - Date.now());
        expect(settledOf(one, "early")).toEqual([]);
        disk.free();
        await one.sees({ what: "settled", id: "early", status: "completed" });
        call(one, "late", "slow", { ms: 100, text: "late" });
        await one.sees({ what: "settled", id: "late", status: "completed" });
        one.order({ do: "close" });
        // lmdb itself writes its failures to standard error, so only the code tells.
        expect((await one.ended).code).toBe(0);
        expect(await phasesIn(plan)).toEqual({ early: "delivered", late: "delivered" });
      } finally {
        disk.remove();
      }
    },
  );

  it.skipIf(reason !== undefined)(
    "that is full when the handle comes: the caller gets it with the error, and its outcome all the same (promise 1)",
    async () => {
      const disk = mounted("2m");
      try {
        const plan: StorePlan = { kind: "lmdb", path: join(disk.folder, "store") };
        await server.addFault({ kind: "delay", ms: 700, processed: true, method: "tools/call" });
        const one = await host(plan);
        call(one, "c", "slow", { ms: 600, text: "in memory" });
        while (callsOf("c").length === 0) await pause(20);
        // Without a page to spare, and a commit needs some.
        disk.fill();
        await one.sees({ what: "called", id: "c" });
        const settled = await one.sees({ what: "settled", id: "c" });
        expect(settled).toMatchObject({
          status: "completed",
          outcome: expect.stringContaining("in memory") as string,
        });
        expect(callsOf("c")).toHaveLength(1);
        one.signal("SIGKILL");
        await one.ended;
        disk.free();
        // What was not stored is at most told once more.
        const two = await host(plan);
        two.order({ do: "close" });
        expect((await two.ended).code).toBe(0);
        expect(callsOf("c")).toHaveLength(1);
      } finally {
        disk.remove();
      }
    },
  );

  it.skipIf(reason !== undefined)(
    "that is read-only: connect says so, and finds everything once it is not",
    async () => {
      const disk = mounted("2m");
      try {
        const plan: StorePlan = { kind: "lmdb", path: join(disk.folder, "store") };
        const one = await host(plan);
        call(one, "c", "slow", { ms: 800, text: "kept" });
        await one.sees({ what: "called", id: "c", how: "task" });
        await one.kill();
        disk.readOnly(true);
        const two = await host(plan, {}, false);
        two.order({ do: "connect" });
        expect(await two.sees({ what: "refused" })).toMatchObject({ code: "STORE" });
        disk.readOnly(false);
        // The same process, not even started anew.
        two.order({ do: "connect" });
        expect(await two.sees({ what: "connected" })).toMatchObject({ found: ["c"] });
        await two.sees({ what: "settled", id: "c", status: "completed" });
        expect(callsOf("c")).toHaveLength(1);
      } finally {
        disk.remove();
      }
    },
  );
});

describe("a store on lmdb", () => {
  it("whose folder is deleted while it runs: reported, what is tracked goes on and is stored in the new folder", async () => {
    const plan = lmdb();
    const one = await host(plan);
    call(one, "c", "deploy", { env: "prod", ms: 0, afterMs: 300 });
    await one.sees({ what: "asked", id: "c" });
    rmSync((plan as { path: string }).path, { recursive: true });
    one.order({ do: "answer", note: "anyway" });
    await one.sees({ what: "settled", id: "c", status: "completed" });
    call(one, "later", "slow", { ms: 100, text: "later" });
    await one.sees({ what: "called", id: "later" });
    call(one, "last", "slow", { ms: 100, text: "last" });
    await one.sees({ what: "settled", id: "last", status: "completed" });
    expect(storeErrors(one)).not.toEqual([]);
    one.order({ do: "close" });
    expect((await one.ended).code).toBe(0);
    expect(callsOf("c")).toHaveLength(1);
    expect(await phasesIn(plan)).toMatchObject({ last: "delivered" });
  });

  it("whose file was cut short between two lives: connect says so, and nothing crashes", async () => {
    const plan = lmdb();
    const one = await host(plan);
    call(one, "c", "slow", { ms: 5000, text: "x".repeat(20_000) });
    await one.sees({ what: "called", id: "c", how: "task" });
    await one.kill();
    const file = join((plan as { path: string }).path, "data.mdb");
    truncateSync(file, Math.floor(statSync(file).size / 2));
    const two = await host(plan, {}, false);
    two.order({ do: "connect" });
    expect(await two.sees({ what: "refused" })).toMatchObject({ code: "STORE" });
    two.order({ do: "close" });
    expect((await two.ended).code).toBe(0);
  });
});

describe.skipIf(!hasRedis)("a store on Redis", () => {
  describe.each([true, false])("that dies and comes back (its data kept: %s)", (keeps) => {
    it("what is tracked in memory goes on, and every outcome is delivered", async () => {
      const redis = await startMortalRedis({ keeps });
      try {
        const plan: StorePlan = { kind: "redis", url: redis.url };
        const one = await host(plan);
        for (const id of ["a", "b"]) {
          call(one, id, "slow", { ms: 900, text: id });
          await one.sees({ what: "called", id, how: "task" });
        }
        await redis.kill();
        one.order({
          do: "call",
          id: "away",
          tool: "slow",
          arguments: { ms: 10, run: "away" },
          timeoutMs: 500,
        });
        const away = await one.sees({ what: "called", id: "away" });
        expect(away).toMatchObject({ tracked: false });
        expect(callsOf("away")).toEqual([]);
        await pause(600);
        await redis.restart();
        for (const id of ["a", "b"]) await one.sees({ what: "settled", id, status: "completed" });
        call(one, "after", "slow", { ms: 100, text: "after" });
        await one.sees({ what: "settled", id: "after", status: "completed" });
        one.order({ do: "close" });
        expect((await one.ended).code).toBe(0);
        for (const id of ["a", "b", "after"]) expect([id, callsOf(id).length]).toEqual([id, 1]);
        expect(callsOf("away").length).toBeLessThanOrEqual(1);
        expect(await phasesIn(plan)).toMatchObject({ after: "delivered" });
      } finally {
        await redis.stop();
      }
    });
  });

  it("that stands still for longer than requests and leases: nothing is sent twice, nothing is lost", async () => {
    const redis = await startMortalRedis({ keeps: false });
    try {
      const plan: StorePlan = { kind: "redis", url: redis.url };
      const one = await host(plan);
      call(one, "c", "slow", { ms: 500, text: "c" });
      await one.sees({ what: "called", id: "c", how: "task" });
      redis.signal("SIGSTOP");
      call(one, "held", "slow", { ms: 10, text: "held" });
      await pause(2500);
      expect(callsOf("held")).toEqual([]);
      redis.signal("SIGCONT");
      for (const id of ["c", "held"]) {
        await one.sees({ what: "settled", id, status: "completed" });
        expect(callsOf(id)).toHaveLength(1);
      }
    } finally {
      redis.signal("SIGCONT");
      await redis.stop();
    }
  });
});
