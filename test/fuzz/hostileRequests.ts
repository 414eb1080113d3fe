/** Owns requests as anybody may send them to the approvals handler, and what its host may say of them. */
import fc from "fast-check";
import { anyJson, anyValue, hostileText, mutated, PLANTED, type Value } from "./hostile.js";

export const MAX_BODY_BYTES = 2000;
export const ORIGIN = "https://chat.example";
export const OTHER_ORIGIN = "https://shell.example";

/** A question as the page was shown it. */
export interface Shown {
  readonly id: string;
  readonly key: string;
  readonly version: string;
}

/** The text of a body with what is real in its places. */
export function filledIn(text: string, real: Shown): string {
  return text.replace("<id>", real.id).replace("<key>", real.key).replace("<version>", real.version);
}

/** What `authorize` does for one request. */
export interface Host {
  readonly isHonest: boolean;
  readonly authorize: () => unknown;
}
export const HONEST: Host = { isHonest: true, authorize: () => ({ scope: "default", actor: "ann" }) };

/** A request as somebody sends it. `real` in its query or body stands for what the page was shown. */
export interface Sent {
  /** Where it is to go, though its path may lead elsewhere. */
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: (real: Shown) => BodyInit | undefined;
  readonly host: Host;
}

const route = fc.constantFrom("tasks", "task", "events", "answer", "answer", "answer", "cancel");
const method = fc.oneof({
  weight: 1,
  arbitrary: fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "FUZZ"),
});
const METHOD_OF: Readonly<Record<string, string>> = { answer: "POST", cancel: "POST" };
const segment = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "",
    ".",
    "..",
    "%2e%2e",
    "%00",
    "tasks%2f",
    "ANSWER",
    "%",
  ),
  hostileText.map(escaped),
);
const path = (last: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(`/${last}`, `/approvals/${last}`, `//a/${last}/`) },
    { weight: 1, arbitrary: fc.tuple(segment, segment).map(([one, two]) => `/${one}/${last}/${two}`) },
    { weight: 1, arbitrary: segment.map((one) => `/${one}/${last}`) },
    { weight: 1, arbitrary: segment.map((one) => `/${one}`) },
  );
const query = fc.oneof(
  { weight: 6, arbitrary: fc.constant("?id=real") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "",
      "?",
      "?id=",
      "?id",
      "?ID=real",
      "?id=real&id=x",
      "?id=%ff%00",
      "?id=__proto__",
      `?id=${PLANTED}`,
      `?id=${"x".repeat(2000)}`,
      `?a=${"x".repeat(9000)}`,
    ),
  },
  { weight: 1, arbitrary: hostileText.map((text) => `?id=${escaped(text)}`) },
  { weight: 1, arbitrary: hostileText.map((text) => `?${text}`) },
);
const header = fc.oneof(
  fc.tuple(
    fc.constant("origin"),
    fc.oneof(
      fc.constantFrom(
        ORIGIN,
        ORIGIN,
        OTHER_ORIGIN,
        "https://evil.example",
        "null",
        "",
        "http://chat.example",
        "https://chat.example.evil.example",
        "https://chat.example:1",
      ),
      hostileText,
    ),
  ),
  fc.tuple(
    fc.constant("sec-fetch-site"),
    fc.oneof(fc.constantFrom("same-origin", "none", "same-site", "cross-site"), hostileText),
  ),
  fc.tuple(fc.constant("host"), fc.constantFrom("chat.example", "evil.example", "")),
  fc.tuple(
    fc.constant("content-type"),
    fc.oneof(
      fc.constantFrom(
        "application/json",
        "application/json; charset=utf-8",
        " APPLICATION/JSON\t;x",
        "application/jsonx",
        "application/json x",
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "",
      ),
      hostileText,
    ),
  ),
  fc.tuple(
    fc.constant("content-length"),
    fc.oneof(fc.constantFrom("0", "5", "2001", "1e9", "-1", "NaN", "Infinity", "0x10", ""), hostileText),
  ),
  fc.tuple(
    fc.constantFrom(
      "accept",
      "accept-encoding",
      "transfer-encoding",
      "x-http-method-override",
      "last-event-id",
    ),
    fc.oneof(fc.constantFrom("text/html", "*/*", "chunked", "DELETE"), hostileText),
  ),
);
const response: fc.Arbitrary<Value> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<Value>(
      { action: "decline" },
      { action: "cancel" },
      { action: "accept", content: { a: "b" } },
    ),
  },
  { weight: 2, arbitrary: anyJson.map((a): Value => ({ action: "accept", content: { a } })) },
  { weight: 2, arbitrary: mutated(fc.constant<Value>({ action: "accept", content: { a: PLANTED } })) },
  { weight: 1, arbitrary: anyJson },
);
/** Where the real ones stand, a mutation of them may stand. */
const sentBody: fc.Arbitrary<Sent["body"]> = fc.oneof(
  {
    weight: 6,
    arbitrary: response.map(
      (given): Sent["body"] =>
        (real) =>
          JSON.stringify({ ...real, response: given }),
    ),
  },
  {
    weight: 3,
    arbitrary: mutated(
      response.map((given): Value => ({ id: "<id>", key: "<key>", version: "<version>", response: given })),
    ).map(
      (value): Sent["body"] =>
        (real) =>
          filledIn(JSON.stringify(value), real),
    ),
  },
  {
    weight: 1,
    arbitrary: anyJson.map(
      (value): Sent["body"] =>
        () =>
          JSON.stringify(value),
    ),
  },
  {
    weight: 1,
    arbitrary: hostileText.map(
      (text): Sent["body"] =>
        () =>
          text,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Sent["body"][]>(
      () => undefined,
      () => " ".repeat(MAX_BODY_BYTES + 1),
      () => "[".repeat(1500),
      () => `{"a":`.repeat(300),
      () => new URLSearchParams({ id: PLANTED }),
    ),
  },
);
const host: fc.Arbitrary<Host> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(HONEST) },
  { weight: 1, arbitrary: anyValue.map((given): Host => ({ isHonest: false, authorize: () => given })) },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.string({ maxLength: 300 }), anyValue).map((actor): Host => ({
      isHonest: false,
      authorize: () => ({ scope: "default", actor }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Host[]>(
      { isHonest: true, authorize: () => undefined },
      { isHonest: true, authorize: () => new Response("no", { status: 401, headers: { "x-own": "yes" } }) },
      { isHonest: true, authorize: () => ({ scope: PLANTED, actor: "ann" }) },
      {
        isHonest: false,
        authorize() {
          throw new Error(PLANTED);
        },
      },
      {
        isHonest: false,
        get authorize(): () => unknown {
          return () => ({
            get scope(): string {
              throw new Error(PLANTED);
            },
          });
        },
      },
    ),
  },
);

export const sent: fc.Arbitrary<Sent> = route.chain((last) =>
  fc.record({
    route: fc.constant(last),
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constant(METHOD_OF[last] ?? "GET") },
      { weight: 1, arbitrary: method },
    ),
    path: path(last),
    query,
    headers: fc
      .tuple(
        fc.constant(["content-type", "application/json"] as const),
        fc.oneof(
          { weight: 2, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.array(header, { maxLength: 3 }) },
        ),
      )
      .map(([first, rest]) => [first, ...rest]),
    body: sentBody,
    host,
  }),
);

/** Percent-encoded, also where half a character stands alone. */
function escaped(text: string): string {
  return encodeURIComponent(Buffer.from(text, "utf8").toString("utf8"));
}
