/** Wrong options of `encryptedStore` ended in "previous is not iterable", and a mistyped one was silently without effect. */
import { expect, test } from "vitest";
import { encryptedStore } from "../../src/index.js";

const key = new Uint8Array(32).fill(1);
const make = (options: unknown): unknown => encryptedStore(new Map(), key, options as never);

test.each([
  ["previousKeys that are no array", { previousKeys: 1 }, /^previousKeys must be an array/],
  ["one key in place of the array", { previousKeys: key }, /^previousKeys must be an array/],
  ["an option that there is not", { previousKey: [key] }, /^encryptedStore: unknown option "previousKey"/],
  ["no object", null, /^options must be an object/],
])("%s", (_what, options, message) => {
  expect(() => make(options)).toThrow(TypeError);
  expect(() => make(options)).toThrow(message);
});

test("an array of keys, or none, is what it takes", () => {
  expect(make({ previousKeys: [new Uint8Array(32)] })).toBeDefined();
  expect(make({})).toBeDefined();
});
