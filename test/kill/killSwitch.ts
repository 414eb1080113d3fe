/** Owns the seams at which a worker dies: a wrapped fetch, a wrapped store, and named places. It changes nothing else. */
import { subscribe } from "node:diagnostics_channel";
import type { FetchLike } from "../../src/index.js";
import type { LmdbStore } from "../../src/store/lmdb.js";
import { readLog, type LogEntry } from "../../src/testing/log.js";
import type { KillPoint } from "./plan.js";

/** Ends this process at once, as a crash does: nothing after it runs, no handler, no flush. */
export function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;) pauseThread(1000);
}

/** The moments of one process life. */
export interface KillSwitch {
  readonly fetch: FetchLike;
  wrapStore(store: LmdbStore): LmdbStore;
  /** Dies here if this is the place (and the `nth` time). */
  at(seam: "input" | "settled" | "program", when: string, nth?: number): void;
}

export function killSwitch(point: KillPoint | undefined, server: { log: string; life: string }): KillSwitch {
  const requests = new Map<string, number>();
  let writes = 0;

  /** How the n-th request of its method is to end, if it is the one. */
  function fate(method: string): (KillPoint & { seam: "fetch" })["when"] | undefined {
    const nth = (requests.get(method) ?? 0) + 1;
    requests.set(method, nth);
    return point?.seam === "fetch" && point.method === method && point.nth === nth ? point.when : undefined;
  }

  async function fetchIt(url: string, init: Parameters<FetchLike>[1]): Promise<Response> {
    const { id, method } = JSON.parse(init.body) as { id: string; method: string };
    const when = fate(method);
    if (when === "before") die();
    if (when === "sent") onBodySent(() => die());
    if (when === "executed") onBodySent(() => dieOnceExecuted(id));
    const response = await globalThis.fetch(url, {
      ...init,
      headers: { ...init.headers, "x-life": server.life, ...(when === undefined ? {} : { "x-last": "1" }) },
    });
    if (when === "headers") die();
    if (when !== "answered" && when !== "later") return response;
    const body = await response.arrayBuffer();
    if (when === "answered") die();
    setTimeout(die, 25);
    return new Response(body, { status: response.status, headers: response.headers });
  }

  /** Blocks the thread until the server's log shows the request: its answer may arrive, but nobody here can read it. */
  function dieOnceExecuted(id: string): never {
    const isOurs = (entry: LogEntry): boolean => entry.id === id && entry.headers["x-life"] === server.life;
    while (!readLog(server.log).some(isOurs)) pauseThread(5);
    die();
  }

  function write<Args extends unknown[], Answer>(
    run: (...args: Args) => Promise<Answer>,
  ): (...args: Args) => Promise<Answer> {
    return async (...args) => {
      writes += 1;
      const when = point?.seam === "store" && point.write === writes ? point.when : undefined;
      if (when === "before") die();
      const answer = await run(...args);
      if (when === "after") die();
      return answer;
    };
  }

  return {
    fetch: fetchIt,
    wrapStore: (store) => ({
      ...store,
      set: write((...args: Parameters<LmdbStore["set"]>) => store.set(...args)),
      setIfAbsent: write((...args: Parameters<LmdbStore["setIfAbsent"]>) => store.setIfAbsent(...args)),
      setIfUnchanged: write((...args: Parameters<LmdbStore["setIfUnchanged"]>) =>
        store.setIfUnchanged(...args),
      ),
      delete: write((...args: Parameters<LmdbStore["delete"]>) => store.delete(...args)),
    }),
    at(seam, when, nth = 1) {
      if (point?.seam !== seam || point.when !== when) return;
      if (point.seam === "input" && point.nth !== nth) return;
      die();
    },
  };
}

/** Runs after the marked request's bytes were handed to the socket, and before anything that it answers can be read. */
function onBodySent(run: () => void): void {
  subscribe("undici:request:bodySent", (message) => {
    const { headers } = (message as { request: { headers: string | readonly string[] } }).request;
    // The next turn: the write itself is through by then.
    if ([headers].flat().join(" ").includes("x-last")) setImmediate(run);
  });
}

function pauseThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
