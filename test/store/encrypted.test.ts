import { describe, expect, test } from "vitest";
import { encryptedStore } from "../../src/store/encrypted.js";
import { memoryStore } from "../../src/store/memory.js";
import { collect, idsOf, KEY, record, taskStore } from "./fixtures.js";

const OTHER_KEY = Uint8Array.from({ length: 32 }, (_, at) => 255 - at);
const storeError = { name: "StoreError", code: "STORE" };

test("the store underneath sees neither values nor parts of them", async () => {
  const inner = memoryStore();
  const store = taskStore(encryptedStore(inner, KEY));
  await store.create(record("1", { requestState: "very-secret-state" }));
  const dump = JSON.stringify(await collect(inner.entries("")));
  expect(dump).not.toMatch(/secret|task-of|deploy/);
  expect(dump).toContain("taskrail-aes256gcm-1:");
  expect((await store.load("1"))?.requestState).toBe("very-secret-state");
});

test("equal values have different texts: every write has an IV of its own", async () => {
  const inner = memoryStore();
  const kv = encryptedStore(inner, KEY);
  const texts = new Set<unknown>();
  for (let at = 0; at < 100; at++) {
    await kv.set("a", "same", undefined);
    texts.add((await inner.get("a"))?.split(":")[2]);
  }
  expect(texts.size).toBe(100);
});

test("a CryptoKey that cannot be exported and its raw bytes are the same key", async () => {
  const inner = memoryStore();
  const key = await crypto.subtle.importKey("raw", KEY, "AES-GCM", false, ["encrypt", "decrypt"]);
  await encryptedStore(inner, key).set("a", "x", undefined);
  expect(await encryptedStore(inner, KEY).get("a")).toBe("x");
});

test("the host may wipe its copy of the key", async () => {
  const key = Uint8Array.from(KEY);
  const kv = encryptedStore(memoryStore(), key);
  key.fill(0);
  await kv.set("a", "x", undefined);
  expect(await kv.get("a")).toBe("x");
});

describe("a wrong key", () => {
  test("hides nothing and loses nothing: reported, left in place, never overwritten, readable with the right one", async () => {
    const inner = memoryStore();
    const right = taskStore(encryptedStore(inner, KEY));
    await right.create(record("old"));
    const ciphertext = await inner.get("s:old");

    const wrong = taskStore(encryptedStore(inner, OTHER_KEY));
    await wrong.create(record("new"));
    expect(await idsOf(wrong)).toEqual(["new"]);
    expect(await wrong.load("old")).toBeUndefined();
    expect(wrong.issues).toHaveLength(1);
    expect(wrong.issues[0]?.message).toMatch(/encrypted with another key/);
    for (const refused of [wrong.save(record("old")), wrong.create(record("old")), wrong.remove("old")]) {
      await expect(refused).rejects.toMatchObject(storeError);
    }
    expect(await inner.get("s:old")).toBe(ciphertext);
    expect(await right.load("old")).toEqual(record("old"));
  });

  test("also in a store that keeps an index", async () => {
    const { entries: _none, setIfAbsent: _no, setIfUnchanged: _neither, ...inner } = memoryStore();
    const right = taskStore(encryptedStore(inner, KEY));
    for (const id of ["1", "2", "3"]) await right.create(record(id));
    const wrong = taskStore(encryptedStore(inner, OTHER_KEY));
    expect(await idsOf(wrong)).toEqual([]);
    await expect(wrong.create(record("1"))).rejects.toMatchObject(storeError);
    expect(await idsOf(right)).toEqual(["1", "2", "3"]);
    expect(right.issues).toEqual([]);
  });

  test("rotation: read with the previous key, written with the new one", async () => {
    const inner = memoryStore();
    await taskStore(encryptedStore(inner, OTHER_KEY)).create(record("1"));
    const rotated = taskStore(encryptedStore(inner, KEY, { previousKeys: [OTHER_KEY] }));
    expect(await idsOf(rotated)).toEqual(["1"]);
    await rotated.save(record("1", { failures: 1 }));
    expect(await taskStore(encryptedStore(inner, KEY)).load("1")).toMatchObject({ failures: 1 });
  });
});

describe("an altered value", () => {
  test.each<[string, (text: string) => string]>([
    ["one bit of the ciphertext", (text) => flip(text, -20)],
    ["one bit of the IV", (text) => flip(text, text.lastIndexOf(":") - 4)],
    ["its end cut off", (text) => text.slice(0, -12)],
    ["more behind it", (text) => `${text}:AAAA`],
  ])("%s: set aside with its ciphertext, reported, other records go on", async (_name, alter) => {
    const inner = memoryStore();
    const store = taskStore(encryptedStore(inner, KEY));
    await store.create(record("good"));
    await store.create(record("bad"));
    const altered = alter((await inner.get("s:bad")) ?? "");
    await inner.set("s:bad", altered, undefined);
    expect(await idsOf(store)).toEqual(["good"]);
    expect(store.issues).toHaveLength(1);
    expect(store.issues[0]).toMatchObject({
      kind: "corrupt",
      message: expect.stringMatching(/altered/) as string,
    });
    expect(await inner.get("s:bad")).toBeUndefined();
    expect(await inner.get("s:!corrupt:bad")).toBe(altered);
  });

  test("entries cannot be exchanged: each value belongs to its key", async () => {
    const inner = memoryStore();
    const store = taskStore(encryptedStore(inner, KEY));
    await store.create(record("1"));
    await store.create(record("2"));
    await inner.set("s:2", (await inner.get("s:1")) ?? "", undefined);
    expect(await store.load("2")).toBeUndefined();
    expect(store.issues.map(({ kind }) => kind)).toEqual(["corrupt"]);
  });

  test("a planted plaintext record is not believed, and stays where it is", async () => {
    const inner = memoryStore();
    const planted = JSON.stringify(record("1"));
    await inner.set("s:1", planted, undefined);
    const store = taskStore(encryptedStore(inner, KEY));
    expect(await store.load("1")).toBeUndefined();
    expect(await idsOf(store)).toEqual([]);
    expect(store.issues).toMatchObject([{ kind: "foreign" }]);
    expect(await inner.get("s:1")).toBe(planted);
  });

  test("what decrypts but is no record is set aside encrypted, not in the clear", async () => {
    const inner = memoryStore();
    const kv = encryptedStore(inner, KEY);
    await kv.set("s:1", "secret junk", undefined);
    const store = taskStore(kv);
    expect(await store.load("1")).toBeUndefined();
    expect(await kv.get("s:!corrupt:1")).toBe("secret junk");
    expect(await inner.get("s:!corrupt:1")).not.toContain("secret");
  });
});

describe("keys that are none", () => {
  test.each<[string, unknown, RegExp]>([
    ["16 bytes", new Uint8Array(16).fill(7), /^key must have 32 bytes \(AES-256\), but has 16$/],
    ["a password", "correct horse battery staple", /^key must be .* but is a string$/],
    ["nothing", undefined, /^key must be .* but is undefined$/],
  ])("%s: a TypeError without the key", (_name, key, message) => {
    expect(() => encryptedStore(memoryStore(), key as Uint8Array)).toThrow(TypeError);
    expect(() => encryptedStore(memoryStore(), key as Uint8Array)).toThrow(message);
  });

  test("a CryptoKey of another length, algorithm or usage", async () => {
    const make = (algorithm: AesKeyGenParams, usages: KeyUsage[]): Promise<CryptoKey> =>
      crypto.subtle.generateKey(algorithm, false, usages);
    const both: KeyUsage[] = ["encrypt", "decrypt"];
    for (const key of [
      await make({ name: "AES-GCM", length: 128 }, both),
      await make({ name: "AES-CBC", length: 256 }, both),
      await make({ name: "AES-GCM", length: 256 }, ["decrypt"]),
    ]) {
      expect(() => encryptedStore(memoryStore(), key)).toThrow(/^key must be a CryptoKey/);
    }
  });

  test("previous keys are named by their place", () => {
    const previousKeys = [KEY, new Uint8Array(3)];
    expect(() => encryptedStore(memoryStore(), OTHER_KEY, { previousKeys })).toThrow(
      /^previousKeys\[1\] must have/,
    );
  });
});

function flip(text: string, at: number): string {
  const index = at < 0 ? text.length + at : at;
  const changed = text.charAt(index) === "A" ? "B" : "A";
  return text.slice(0, index) + changed + text.slice(index + 1);
}
