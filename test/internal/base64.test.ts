import { expect, test } from "vitest";
import { decodeBase64, encodeBase64 } from "../../src/internal/base64.js";

test("bytes survive, also more of them than an argument list takes", () => {
  const bytes = Uint8Array.from({ length: 200_001 }, (_, at) => (at * 31) % 256);
  expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
  expect(encodeBase64(new Uint8Array())).toBe("");
});

test("what is no base64 is undefined", () => {
  expect(decodeBase64("a%b")).toBeUndefined();
  expect(decodeBase64("abcde")).toBeUndefined();
});
