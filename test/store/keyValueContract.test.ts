import { describe, expect, test } from "vitest";
import { collect, STORES } from "./fixtures.js";

describe.each(Object.entries(STORES))("KeyValueStore over %s", (_name, make) => {
  test("reads what was written, and undefined where nothing was", async () => {
    const kv = await make();
    expect(await kv.get("a:1")).toBeUndefined();
    await kv.set("a:1", '{"x":1}', undefined);
    await kv.set("a:2", "", undefined);
    expect(await kv.get("a:1")).toBe('{"x":1}');
    expect(await kv.get("a:2")).toBe("");
    await kv.set("a:1", "other", undefined);
    expect(await kv.get("a:1")).toBe("other");
  });

  test("texts that serializers have stumbled over come back unchanged", async () => {
    const kv = await make();
    const texts = [
      ":base64:AAAA",
      ":colon",
      "null",
      "undefined",
      "[]",
      "\u0000",
      "\ufefftext",
      "ü🙂",
      "a\nb",
      '"',
    ];
    for (const [at, text] of texts.entries()) await kv.set(`t:${at}`, text, undefined);
    for (const [at, text] of texts.entries()) expect(await kv.get(`t:${at}`)).toBe(text);
  });

  test("delete removes, and is harmless where there is nothing", async () => {
    const kv = await make();
    await kv.set("a:1", "x", undefined);
    await kv.delete("a:1");
    await kv.delete("a:1");
    expect(await kv.get("a:1")).toBeUndefined();
  });

  test("an expired entry is gone; no expiry, after one, is no expiry (F109)", async () => {
    const kv = await make();
    await kv.set("a:gone", "x", 1);
    await kv.set("a:kept", "x", 1);
    await kv.set("a:kept", "y", undefined);
    await expect.poll(() => kv.get("a:gone")).toBeUndefined();
    expect(await kv.get("a:kept")).toBe("y");
    if (kv.entries !== undefined) expect(await collect(kv.entries("a:"))).toEqual([["a:kept", "y"]]);
  });

  test("odd times to live neither expire at once nor fail", async () => {
    const kv = await make();
    for (const ttl of [Infinity, NaN, 1e18, 60_000.5]) {
      await kv.set("a:1", String(ttl), ttl);
      expect(await kv.get("a:1")).toBe(String(ttl));
    }
  });

  test("entries shows exactly the keys with the prefix", async () => {
    const kv = await make();
    for (const key of ["a:1", "a:2", "a", "ab:1", "b:a:1"]) await kv.set(key, `of ${key}`, undefined);
    if (kv.entries === undefined) return expect(_name).toContain("without iterator");
    const found = await collect(kv.entries("a:"));
    expect(found.sort()).toEqual([
      ["a:1", "of a:1"],
      ["a:2", "of a:2"],
    ]);
  });

  test("setIfAbsent stores once, also among simultaneous calls, and again after expiry", async () => {
    const kv = await make();
    const setIfAbsent = kv.setIfAbsent?.bind(kv);
    if (setIfAbsent === undefined) return expect(_name).not.toMatch(/lmdb|memory|redis/i);
    const won = await Promise.all([1, 2, 3].map((each) => setIfAbsent("a:1", String(each), undefined)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await kv.get("a:1")).toBe(String(won.indexOf(true) + 1));
    await kv.set("a:1", "short", 1);
    await expect.poll(() => setIfAbsent("a:1", "new", undefined)).toBe(true);
    expect(await kv.get("a:1")).toBe("new");
  });

  test("setIfUnchanged stores only over what was seen", async () => {
    const kv = await make();
    const setIfUnchanged = kv.setIfUnchanged?.bind(kv);
    if (setIfUnchanged === undefined) return expect(_name).not.toMatch(/lmdb|memory|redis/i);
    expect(await setIfUnchanged("a:1", "x", "y", undefined)).toBe(false);
    await kv.set("a:1", "x", 60_000);
    expect(await setIfUnchanged("a:1", "x", "short", 50)).toBe(true);
    await expect.poll(() => kv.get("a:1")).toBeUndefined();
    await kv.set("a:1", "x", undefined);
    const won = await Promise.all(
      [1, 2, 3].map((each) => setIfUnchanged("a:1", "x", String(each), undefined)),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await kv.get("a:1")).toBe(String(won.indexOf(true) + 1));
  });
});
