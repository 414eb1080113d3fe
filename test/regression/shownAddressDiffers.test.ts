/** F148: addresses that a parser repairs were shown as they came, and another text was opened. */
import { expect, test } from "vitest";
import { readInputRequest } from "../../src/protocol/index.js";

const read = (url: string): ReturnType<typeof readInputRequest> =>
  readInputRequest("elicitation/create", { mode: "url", message: "m", url }, { elicitation: { url: {} } });

test.each([
  "http://@evil.example",
  "https://:@evil.example/",
  "https:evil.example",
  "https:/evil.example",
  "https:///evil.example",
  "HTTPS://@evil.example/?a=1",
  "https://good.example@evil.example#x",
])("%s is not put to anybody", (url) => {
  expect(read(url)).toMatchObject({ ok: false, message: expect.stringContaining("params.url") as string });
});

test.each([
  "HTTPS://x.example",
  "https://x.example/@user?to=a@b#@",
  "http://[::1]:8080/",
  "https://x.example?a@b",
])("%s is", (url) => expect(read(url)).toMatchObject({ ok: true, request: { url } }));
