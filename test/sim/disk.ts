/** Owns the key-value store that all processes share: what is on it survives them. It may be slow, refuse, or lie about a refusal. */
import type { KeyValueStore } from "../../src/store/types.js";
import type { TaskRecord } from "../../src/task/record.js";
import { Violation, type ProcessView } from "./observation.js";
import type { World } from "./world.js";

/** What is on the disk. */
export interface Disk {
  /** The store as one process has it. */
  storeOf(process: ProcessView): KeyValueStore;
  /** The records as they stand, by the local id; of every scope. */
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly keys: Iterable<string>;
  /** Refuses everything until then. */
  brokenUntil: number;
}

interface Entry {
  readonly value: string;
  readonly expiresAt: number;
  readonly record: TaskRecord | undefined;
}

export function createDisk(world: World): Disk {
  const { time, scenario } = world;
  const random = world.random("disk");
  const entries = new Map<string, Entry>();
  const records = new Map<string, TaskRecord>();

  function live(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > time.now) return entry;
    change(undefined, key, undefined);
    return undefined;
  }

  function change(process: ProcessView | undefined, key: string, entry: Entry | undefined): void {
    const before = entries.get(key)?.record;
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
    const after = entry?.record;
    if (before !== undefined && after === undefined) records.delete(idOf(before));
    if (after !== undefined) records.set(idOf(after), after);
    const text = after === undefined ? entry?.value : undefined;
    world.observe({ kind: "wrote", process, key, before, after, text });
  }

  function put(process: ProcessView, key: string, value: string, ttlMs: number | undefined): void {
    const read = JSON.parse(value) as Partial<TaskRecord>;
    // Other entries (an index, a roster) are the product's own business.
    const record = read.phase === undefined || read.id === undefined ? undefined : (read as TaskRecord);
    change(process, key, { value, record, expiresAt: time.now + (ttlMs ?? Infinity) });
  }

  /** One operation: what a dead process asked for never happens, what had happened stays. */
  function run<T>(
    process: ProcessView,
    what: { operation: string; key: string; writes: boolean },
    apply: () => T,
  ): Promise<T> {
    const { operation, key, writes } = what;
    if (process.isDone) {
      world.fail(
        new Violation("P11 nothing is left behind", `${operation} ${key} after ${process.name} closed`),
      );
    }
    if (!world.touch(process, `store ${operation}`)) return never();
    const down = disk.brokenUntil > time.now;
    const refused = down || world.fault("storeFails", writes ? 1 : 0.1);
    const lies = !refused && writes && world.fault("storeFailsAfter");
    const slow = world.fault("storeSlow") ? random.int(10, 8000) : 0;
    const waitMs = random.int(0, scenario.store.latencyMs) + slow;
    const act = (): { value: T } | { error: Error } => {
      if (refused || lies) {
        if (lies) apply();
        world.observe({ kind: "storeFailed", process, key, operation, applied: lies });
        return { error: new Error("the disk is full") };
      }
      return { value: apply() };
    };
    if (waitMs === 0) {
      const done = act();
      if (!world.touch(process, `stored ${operation}`)) return never();
      return "error" in done ? Promise.reject(done.error) : Promise.resolve(done.value);
    }
    return new Promise((resolve, reject) => {
      const half = random.int(0, waitMs);
      time.after(half, () => {
        if (!process.alive) return;
        const done = act();
        const reply = (): void => {
          if (!world.touch(process, `stored ${operation}`)) return;
          if ("error" in done) reject(done.error);
          else resolve(done.value);
        };
        time.after(waitMs - half, reply, process);
      });
    });
  }

  function storeOf(process: ProcessView): KeyValueStore {
    const { cas, iterates } = scenario.store;
    const write = <T>(operation: string, key: string, apply: () => T): Promise<T> =>
      run(process, { operation, key, writes: true }, apply);
    const store: KeyValueStore = {
      kind: "mcp-taskrail.key-value-store",
      get: (key) => run(process, { operation: "get", key, writes: false }, () => live(key)?.value),
      set: (key, value, ttlMs) => write("set", key, () => put(process, key, value, ttlMs)),
      delete: (key) => write("delete", key, () => change(process, key, undefined)),
    };
    if (iterates) {
      store.entries = async function* (prefix) {
        const found = await run(process, { operation: "entries", key: prefix, writes: false }, () =>
          [...entries.keys()].filter((key) => key.startsWith(prefix)),
        );
        for (const key of found) {
          if (process.isDone)
            world.fail(new Violation("P11 nothing is left behind", `${process.name} reads on`));
          const entry = live(key);
          if (entry !== undefined) yield [key, entry.value] as const;
        }
      };
    }
    if (cas) {
      store.setIfAbsent = (key, value, ttlMs) =>
        write("setIfAbsent", key, () => {
          if (live(key) !== undefined) return false;
          put(process, key, value, ttlMs);
          return true;
        });
      store.setIfUnchanged = (key, seen, value, ttlMs) =>
        write("setIfUnchanged", key, () => {
          if (live(key)?.value !== seen) return false;
          put(process, key, value, ttlMs);
          return true;
        });
    }
    return store;
  }

  const disk: Disk = { storeOf, records, keys: { [Symbol.iterator]: () => entries.keys() }, brokenUntil: 0 };
  return disk;
}

/** Ids are the caller's, and every scope may use the same. */
export function idOf(record: Pick<TaskRecord, "scope" | "id">): string {
  return `${record.scope}/${record.id}`;
}

export function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
