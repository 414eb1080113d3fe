/** Owns what JSON is: its types, the check that a value survives it, and a canonical text for digests. */

/** A value that JSON can carry without loss. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object that JSON can carry without loss. */
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** True for a non-null object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Names the first place where a value would be lost or changed by JSON, or answers undefined.
 * `undefined` members of objects are fine: JSON leaves them out, as every caller expects.
 */
export function whyNotJson(value: unknown, path = "value"): string | undefined {
  return inspect(value, path, new Set());
}

function inspect(value: unknown, path: string, parents: Set<object>): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${path} is ${String(value)}`;
    case "object":
      return value === null ? undefined : inspectObject(value, path, parents);
    default:
      return `${path} is a ${typeof value}`;
  }
}

function inspectObject(value: object, path: string, parents: Set<object>): string | undefined {
  if (parents.has(value)) return `${path} refers to itself`;
  if (parents.size >= 200) return `${path} is nested deeper than 200 levels`;
  parents.add(value);
  try {
    if (Array.isArray(value))
      return firstReason(
        value.map((item, i) => [`${path}[${i}]`, item]),
        parents,
      );
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      return `${path} is a ${value.constructor?.name || "class instance"}`;
    }
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return firstReason(
      members.map(([key, member]) => [`${path}.${key}`, member]),
      parents,
    );
  } finally {
    parents.delete(value);
  }
}

function firstReason(members: (readonly [string, unknown])[], parents: Set<object>): string | undefined {
  for (const [path, member] of members) {
    const reason = inspect(member, path, parents);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/**
 * The deepest nesting of what comes from servers. A parser takes any depth, but whatever walks or writes the value
 * later (digests, the store) would end at the stack's limit.
 */
export const MAX_JSON_DEPTH = 500;

/** True when the value, which is JSON, is nested deeper than the limit. */
export function isTooDeep(value: unknown, limit: number = MAX_JSON_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return members.some((member) => isTooDeep(member, limit - 1));
}

/** JSON text with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}

/** The object without members that are null: servers whose language has no "absent" write that. */
export function withoutNulls<Value>(
  value: Readonly<Record<string, Value>>,
): Record<string, NonNullable<Value>> {
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members) as Record<string, NonNullable<Value>>;
}
