import { EventEmitter } from "node:events";
import { Keyv } from "keyv";
import { describe, expect, test } from "vitest";
import { toKeyValueStore } from "../../src/store/keyValue.js";
import type { KeyValueStore, StoreInput } from "../../src/store/types.js";
import { collect, idsOf, PlainAdapter, record, taskStore, temporaryLmdb } from "./fixtures.js";

const storeError = { name: "StoreError", code: "STORE" };

async function expectAllToReject(kv: KeyValueStore): Promise<void> {
  await expect(kv.get("a:1")).rejects.toMatchObject(storeError);
  await expect(kv.set("a:1", "x", undefined)).rejects.toMatchObject(storeError);
  await expect(kv.delete("a:1")).rejects.toMatchObject(storeError);
  if (kv.entries !== undefined) await expect(collect(kv.entries("a:"))).rejects.toMatchObject(storeError);
}

describe("what may be given as store", () => {
  test.each<[string, unknown, RegExp]>([
    ["a connection string", "redis://user:hunter2@host", /store must be .* but is a string$/],
    ["null", null, /but is null$/],
    ["an array", [], /but is an array$/],
    ["the class instead of an instance", Keyv, /but is a function$/],
    ["an object of another kind", { get: () => 1 }, /but is an object without set, delete$/],
    ["a promise of a store", Promise.resolve(new Map()), /but is a promise \(await it first\)$/],
  ])("%s is a TypeError that names the option and does not print the value", (_name, input, message) => {
    expect(() => toKeyValueStore(input as StoreInput)).toThrow(TypeError);
    expect(() => toKeyValueStore(input as StoreInput)).toThrow(message);
  });

  test("nothing is a fresh memory store, a KeyValueStore is taken as it is", async () => {
    const kv = toKeyValueStore(undefined);
    await kv.set("a", "x", undefined);
    expect(await toKeyValueStore(undefined).get("a")).toBeUndefined();
    expect(toKeyValueStore(kv)).toBe(kv);
  });

  test("an adapter and a default Keyv over it see the same entries", async () => {
    const adapter = new PlainAdapter();
    await toKeyValueStore(adapter).set("a:1", "x", undefined);
    const lmdb = await temporaryLmdb();
    await toKeyValueStore(lmdb).set("a:1", "x", undefined);
    expect(await new Keyv({ store: lmdb }).get("a:1")).toBe("x");
    expect([...adapter.entries.keys()]).toEqual(["keyv:a:1"]);
  });
});

describe("the host's own Keyv", () => {
  test("stays as it was", async () => {
    const keyv = new Keyv({ namespace: "mine", ttl: 5_000 });
    const before = { ...keyv.opts };
    const kv = toKeyValueStore(keyv);
    await kv.set("a:1", "x", undefined);
    await kv.get("a:1");
    await collect(kv.entries?.("a:"));
    await kv.delete("a:1");
    expect(keyv.opts).toEqual(before);
    expect(keyv.throwOnErrors).toBe(false);
    expect(keyv.ttl).toBe(5_000);
    expect(keyv.namespace).toBe("mine");
    expect(keyv.listeners("error")).toEqual([]);
    expect((keyv.store as { namespace?: unknown }).namespace).toBe("mine");
  });

  test("gives its namespace, serialization and hooks, and not its default time to live", async () => {
    const map = new Map<string, string>();
    const keyv = new Keyv({ store: map, namespace: "mine", ttl: 1 });
    keyv.serialize = (data) => `ser ${JSON.stringify(data)}`;
    keyv.deserialize = (text) => JSON.parse(text.slice(4)) as never;
    const keys: unknown[] = [];
    keyv.hooks.addHandler("preSet", (data: { key: string }) => keys.push(data.key));
    const kv = toKeyValueStore(keyv);
    await kv.set("a:1", "x", undefined);
    expect([...map]).toEqual([["mine:a:1", 'ser {"value":"x"}']]);
    expect(keys).toEqual(["a:1"]);
    await kv.set("a:2", "y", 60_000);
    expect(await keyv.get("a:1")).toBe("x");
    expect(await collect(kv.entries?.("a:"))).toEqual([
      ["a:1", "x"],
      ["a:2", "y"],
    ]);
  });

  test("two namespaces over one Map: neither sees, or takes with it, the other's records (F098)", async () => {
    const map = new Map();
    const a = taskStore(toKeyValueStore(new Keyv({ store: map, namespace: "a" })));
    const b = taskStore(toKeyValueStore(new Keyv({ store: map, namespace: "b" })));
    await a.create(record("1", { tool: "of a" }));
    await b.create(record("1", { tool: "of b" }));
    await b.create(record("2"));
    expect(await idsOf(a)).toEqual(["1"]);
    for (const id of await idsOf(a)) await a.remove(id);
    expect(await idsOf(a)).toEqual([]);
    expect(await idsOf(b)).toEqual(["1", "2"]);
    expect((await b.load("1"))?.tool).toBe("of b");
    expect([...a.issues, ...b.issues]).toEqual([]);
  });

  test("an undecodable value is answered as found, never as absent", async () => {
    const map = new Map<string, unknown>();
    const kv = toKeyValueStore(new Keyv({ store: map }));
    map.set("keyv:a:1", '{"value":"cut o');
    map.set("keyv:a:2", Buffer.alloc(3));
    map.set("keyv:a:3", 7);
    expect(await kv.get("a:1")).toBe('{"value":"cut o');
    expect(await kv.get("a:2")).toBe("bytes:000000");
    expect(await kv.get("a:3")).toBe("7");
    expect((await collect(kv.entries?.("a:"))).map(([key]) => key)).toEqual(["a:1", "a:2", "a:3"]);
  });
});

describe("a store that is down", () => {
  test("a Keyv without throwOnErrors over a closed lmdb: every operation rejects, nothing reads as absent (F100)", async () => {
    const lmdb = await temporaryLmdb();
    const keyv = new Keyv({ store: lmdb });
    const kv = toKeyValueStore(keyv);
    await kv.set("a:1", "x", undefined);
    await lmdb.disconnect();
    // What the host's instance would have said:
    expect(await keyv.get("a:1")).toBeUndefined();
    expect(await keyv.set("a:1", "x")).toBe(false);
    await expectAllToReject(kv);
    await expect(kv.setIfAbsent?.("a:1", "x", undefined)).rejects.toMatchObject(storeError);
    await expect(kv.setIfUnchanged?.("a:1", "x", "y", undefined)).rejects.toMatchObject(storeError);
    const store = taskStore(kv);
    await expect(store.load("1")).rejects.toMatchObject(storeError);
    await expect(store.create(record("1"))).rejects.toMatchObject(storeError);
    await expect(store.save(record("1"))).rejects.toMatchObject(storeError);
    await expect(store.remove("1")).rejects.toMatchObject(storeError);
    await expect(idsOf(store)).rejects.toMatchObject(storeError);
  });

  test("a set that answers false is a failure (F101)", async () => {
    class Refusing extends PlainAdapter {
      override async set(): Promise<boolean> {
        return false;
      }
    }
    for (const input of [
      new Refusing(),
      new Keyv({ store: Object.assign(new Refusing(), { clear: () => {} }) }),
    ]) {
      await expect(toKeyValueStore(input).set("a:1", "x", undefined)).rejects.toMatchObject(storeError);
    }
  });

  test("an adapter that emits its failures and answers as if nothing was stored: rejected, and no crash", async () => {
    const emitter = new EventEmitter();
    const fail = async (): Promise<undefined> => {
      emitter.emit("error", new Error("connection lost"));
      return undefined;
    };
    const adapter = {
      get: fail,
      set: fail,
      delete: fail,
      clear: fail,
      on: emitter.on.bind(emitter),
      namespace: "",
    };
    await expectAllToReject(toKeyValueStore(adapter));
    await expectAllToReject(toKeyValueStore(new Keyv({ store: adapter })));
    await expect(toKeyValueStore(adapter).get("a:1")).rejects.toMatchObject({
      cause: { message: "connection lost" },
    });
    // An error between operations is nobody's.
    expect(() => emitter.emit("error", new Error("idle connection lost"))).not.toThrow();
  });

  test("messages name no key: adapters put keys into theirs, which stay in the cause", async () => {
    class Talkative extends PlainAdapter {
      override get(key: string): Promise<never> {
        return Promise.reject(new Error(`cannot read ${key}`));
      }
    }
    const failure: unknown = await toKeyValueStore(new Talkative())
      .get("s:secret")
      .catch((error: unknown) => error);
    expect((failure as Error).message).not.toContain("secret");
    expect((failure as Error).cause).toMatchObject({ message: "cannot read keyv:s:secret" });
  });

  test("a Keyv of a class with a constructor of its own is watched instead of made again", async () => {
    class Wrapped extends Keyv {
      constructor(name: string, store: object) {
        if (typeof name !== "string") throw new Error("a name is needed");
        super({ store, namespace: name, ttl: 1 });
      }
    }
    const lmdb = await temporaryLmdb();
    const kv = toKeyValueStore(new Wrapped("w", lmdb));
    await kv.set("a:1", "x", undefined);
    expect(await kv.get("a:1")).toBe("x");
    expect(await kv.get("a:2")).toBeUndefined();
    expect(await collect(kv.entries?.("a:"))).toEqual([["a:1", "x"]]);
    await kv.delete("a:2");
    await lmdb.disconnect();
    await expectAllToReject(kv);
  });
});

describe("Keyv 6", () => {
  test("an adapter that takes the instant of expiry gets one", async () => {
    const expiries: (number | undefined)[] = [];
    class Six extends PlainAdapter {
      readonly capabilities = { expires: true };
      override async set(key: string, value: unknown, expires?: number): Promise<boolean> {
        expiries.push(expires);
        return super.set(key, value);
      }
    }
    const before = Date.now();
    const kv = toKeyValueStore(new Six());
    await kv.set("a:1", "x", 60_000);
    await kv.set("a:2", "x", undefined);
    expect(expiries[0]).toBeGreaterThanOrEqual(before + 60_000);
    expect(expiries[1]).toBeUndefined();
    expect(await kv.get("a:1")).toBe("x");
  });
});
