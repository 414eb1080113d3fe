/** Owns how secrets are taken out of text that others wrote. It cannot find a secret that it is not given. */

/** What stands in the place of a secret, by its position in the list. */
const LABELS = ["[task]", "[state]"];
/** Shorter ones would take whole words out of innocent text, and hide nothing. */
const MIN_LENGTH = 4;

/**
 * The text with every occurrence of the secrets replaced: of the first by `[task]`, of the second by `[state]`, of
 * others by `[hidden]`; also where they stand escaped as in JSON. Secrets that are undefined or shorter than 4
 * characters are ignored.
 */
export function scrub(text: string, secrets: readonly (string | undefined)[]): string {
  return (
    secrets
      .map((secret, i) => ({ secret: secret ?? "", label: LABELS[i] ?? "[hidden]" }))
      .filter(({ secret }) => secret.length >= MIN_LENGTH)
      // Longest first, so that one secret inside another leaves no rest of it.
      .sort((a, b) => b.secret.length - a.secret.length)
      .reduce(
        (scrubbed, { secret, label }) =>
          scrubbed
            .replaceAll(secret, () => label)
            .replaceAll(JSON.stringify(secret).slice(1, -1), () => label),
        text,
      )
  );
}

/**
 * The JSON value with every occurrence of the secrets in its texts replaced, as `scrub` does. A value that is no longer
 * JSON afterwards (a secret that looks like its punctuation) becomes `"[hidden]"`.
 */
export function scrubJson<Value>(value: Value, secrets: readonly (string | undefined)[]): Value | "[hidden]" {
  if (value === undefined) return value;
  const text = JSON.stringify(value);
  const scrubbed = scrub(text, secrets);
  if (scrubbed === text) return value;
  try {
    return JSON.parse(scrubbed) as Value;
  } catch {
    return "[hidden]";
  }
}
