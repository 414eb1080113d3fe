/** Owns the text of store keys: unambiguous, bounded, and of characters that no store folds, strips or splits. No I/O. */

/** Encoded parts up to this length stay readable; longer ones are hashed. Keeps whole keys below 250 bytes. */
const MAX_PART_LENGTH = 80;

/**
 * One part of a key as `[a-z0-9_%-]`, or `~` and a digest where it is long. Different parts have different texts:
 * colons are escaped, and so are capitals (some databases compare without case) and a doubled hyphen (a comment
 * to sanitizers). Works on UTF-16 units, so that lone surrogates survive.
 */
export async function keyPart(part: string): Promise<string> {
  const encoded = part === "" ? "%" : encode(part);
  return encoded.length <= MAX_PART_LENGTH ? encoded : `~${await digest(part)}`;
}

/** SHA-256 of the UTF-16 units, in lower-case hex. */
export async function digest(text: string): Promise<string> {
  const units = new DataView(new ArrayBuffer(text.length * 2));
  for (let at = 0; at < text.length; at++) units.setUint16(at * 2, text.charCodeAt(at));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", units.buffer));
  return Array.from(hash, (byte) => hex(byte, 2)).join("");
}

function encode(part: string): string {
  let encoded = "";
  for (let at = 0; at < part.length; at++) {
    const char = part.charAt(at);
    const plain = /[a-z0-9_]/.test(char) || (char === "-" && part.charAt(at - 1) !== "-");
    if (plain) encoded += char;
    else if (char < "\u0100") encoded += `%${hex(char.charCodeAt(0), 2)}`;
    else encoded += `%u${hex(char.charCodeAt(0), 4)}`;
    // A long part is hashed anyway: do not spend time on the rest of it.
    if (encoded.length > MAX_PART_LENGTH) return encoded;
  }
  return encoded;
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, "0");
}
