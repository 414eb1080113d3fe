/** Owns making text of others safe to print: a server must not steer the terminal, nor turn words around. */

/** Control characters (C0, C1, DEL), line separators, and marks that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** One line of at most `limit` characters, without anything that a terminal would obey. */
export function printable(text: string, limit = 200): string {
  const line = Array.from(text.replace(UNPRINTABLE, " "));
  return line.length <= limit ? line.join("") : `${line.slice(0, limit - 3).join("")}...`;
}
