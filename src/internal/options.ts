/** Owns the check that an object has no members that nobody reads: a mistyped option must not be silently without effect. */

/** Throws `TypeError` naming the first unknown member and the known ones. Members that are undefined do not count. */
export function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${what}: unknown option ${JSON.stringify(unknown[0])} (known: ${known.join(", ")})`);
}
