/** Owns hostile values: JSON that no honest server writes, mutations of what an honest one would, values that are no JSON at all. */
import fc from "fast-check";

/** Stands for whatever must never be shown: task ids, request states, answers, credentials. */
export const PLANTED = "planted-secret-7f3a9c";

/** A JSON value as generated; keys may be anything, `__proto__` too. */
export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

const WORDS = [
  "",
  "complete",
  "task",
  "input_required",
  "working",
  "completed",
  "failed",
  "cancelled",
  "accept",
  "decline",
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
  "notifications/tasks",
  "text",
  "object",
  "string",
  "form",
  "url",
  "2026-07-28",
  "https://example.com/",
  "#/$defs/a",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\ufeff",
  "ü€𝄞",
  "=?base64?eA==?=",
  "%",
  "a\r\nb: c",
  PLANTED,
];

/** Keys that parsers look for, and those that change what an object is. */
const KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "toJSON",
  "",
  "taskId",
  "status",
  "resultType",
  "task",
  "result",
  "error",
  "code",
  "message",
  "data",
  "content",
  "structuredContent",
  "isError",
  "inputRequests",
  "requestState",
  "method",
  "params",
  "mode",
  "url",
  "requestedSchema",
  "type",
  "properties",
  "required",
  "enum",
  "oneOf",
  "items",
  "$ref",
  "$defs",
  "ttlMs",
  "ttl",
  "pollIntervalMs",
  "tools",
  "name",
  "inputSchema",
  "x-mcp-header",
  "nextCursor",
  "_meta",
  "action",
  "v",
  "id",
  "\ud800",
  PLANTED,
];

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  1.5,
  5e-324,
  1e308,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e18,
  -32602,
  -32601,
  -32021,
];
/** About the limits of the readers (200, 500), and far beyond. */
const DEPTHS = [20, 199, 201, 499, 501, 3000];

/** An object of its own properties only, whatever the keys are. Later ones win, as in JSON. */
export function objectOf(entries: readonly (readonly [string, unknown])[]): { [key: string]: Value } {
  const object = {};
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

function deep(depth: number, asArray: boolean): Value {
  let value: Value = "end";
  for (let level = 0; level < depth; level += 1) value = asArray ? [value] : { a: value };
  return value;
}

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom("x".repeat(300), "ü".repeat(9000), `${PLANTED} `.repeat(500)) },
);

export const hostileKey: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: hostileText },
);

/** Any JSON, of at most a few dozen values, or very deep. */
export const hostileJson: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    { weight: 3, arbitrary: hostileText },
    { weight: 2, arbitrary: fc.oneof(fc.constantFrom(...NUMBERS), fc.integer()) },
    { weight: 2, arbitrary: fc.constantFrom<Value>(null, true, false, [], {}) },
    { weight: 2, arbitrary: fc.array(tie("value"), { maxLength: 4 }) },
    {
      weight: 3,
      arbitrary: fc.array(fc.tuple(hostileKey, tie("value")), { maxLength: 5 }).map(objectOf),
    },
  ),
})).value;

/** Deep ones are rare: each costs as much as a hundred others. */
const deepJson: fc.Arbitrary<Value> = fc
  .tuple(fc.constantFrom(...DEPTHS), fc.boolean())
  .map(([depth, asArray]) => deep(depth, asArray));

export const anyJson: fc.Arbitrary<Value> = fc.oneof(
  { weight: 60, arbitrary: hostileJson },
  { weight: 1, arbitrary: deepJson },
);

/** One change of a value: where (a walk through its members), what. */
interface Mutation {
  readonly path: readonly number[];
  readonly kind: "replace" | "drop" | "add" | "wrap";
  readonly key: string;
  readonly value: Value;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  path: fc.array(fc.nat(7), { maxLength: 4 }),
  kind: fc.constantFrom("replace" as const, "drop" as const, "add" as const, "wrap" as const),
  key: hostileKey,
  value: anyJson,
});

/** An honest value with up to three changes. */
export function mutated(honest: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc
    .tuple(honest, fc.array(mutation, { maxLength: 3 }))
    .map(([value, changes]) => changes.reduce(changedAt, value));
}

function changedAt(value: Value, change: Mutation): Value {
  return apply(value, change, 0);
}

function apply(value: Value, change: Mutation, at: number): Value {
  const step = change.path[at];
  if (typeof value === "object" && value !== null && step !== undefined) {
    const members = Object.entries(value);
    const chosen = members.length === 0 ? undefined : step % members.length;
    if (chosen !== undefined) {
      const last = at === change.path.length - 1;
      const next = members.flatMap(([key, member], index): [string, Value][] => {
        if (index !== chosen) return [[key, member]];
        return last && change.kind === "drop" ? [] : [[key, apply(member, change, at + 1)]];
      });
      return Array.isArray(value) ? next.map(([, member]) => member) : objectOf(next);
    }
  }
  if (change.kind === "wrap") return { [change.key === "__proto__" ? "task" : change.key]: value };
  if (change.kind === "add" && typeof value === "object" && value !== null) {
    if (Array.isArray(value)) return [...value, change.value];
    return objectOf([...Object.entries(value), [change.key, change.value]]);
  }
  return change.kind === "drop" ? value : change.value;
}

/** Values that JSON does not have: what a host may pass by mistake. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: anyJson },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<(() => unknown)[]>(
        () => undefined,
        () => NaN,
        () => Infinity,
        () => -Infinity,
        () => 10n,
        () => Symbol("s"),
        () => () => undefined,
        () => new Date(NaN),
        () => new Map([["a", 1]]),
        () => new Uint8Array(3),
        () => Object.create(null) as unknown,
        () => new URL("https://example.com"),
        () => new AbortController().signal,
        () => AbortSignal.abort(),
        circular,
        () => ({ toJSON: () => PLANTED }),
        () => new Proxy({}, {}),
        () => Promise.resolve(1),
        () => /a/,
      )
      .map((make) => make()),
  },
);

function circular(): unknown {
  const value: Record<string, unknown> = { a: 1 };
  value["self"] = value;
  return value;
}
