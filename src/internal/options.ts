/** Owns checks that options of several entries share: a mistyped one must not be silently without effect. */

/** Throws `TypeError` naming the first unknown member and the known ones. Members that are undefined do not count. */
export function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${what}: unknown option ${JSON.stringify(unknown[0])} (known: ${known.join(", ")})`);
}

/** The function as it was given. Throws `TypeError` where it is none. */
export function optionalFunction<F>(name: string, value: F | undefined): F | undefined {
  if (value === undefined || typeof value === "function") return value;
  throw new TypeError(`${name}: expected a function`);
}
