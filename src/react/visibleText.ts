/** Owns how a server's text is made harmless to read: what would be invisible, or would change what is seen, gets a sign. Pure. */

const C0_SIGNS = 0x2400;
const EMOJI_LOOK = "\ufe0f";
const DELETE_SIGN = "\u2421";

// Control characters but tab and line feed; directions that reach over other text; what has no width (but the joiners
// that scripts need), or is drawn as a blank; tags and selectors, which can carry whole texts; halves of characters. The one
// selector that ordinary emoji have stays with them.
const HIDDEN =
  /\r\n|\p{Extended_Pictographic}\ufe0f|[0-9#*]\ufe0f\u20e3|[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]|[\ud800-\udfff]/gu;

/**
 * The text with control characters as their pictures (`␛`), and other hidden characters by their number (`⟨U+202E⟩`).
 * Line ends become `\n`. It stays text: show it as such, never as HTML, and isolated (`<bdi>`).
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, sign);
}

function sign(found: string): string {
  if (found === "\r\n") return "\n";
  if (found.includes(EMOJI_LOOK) && found.length > 1) return found;
  const code = found.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(C0_SIGNS + code);
  if (code === 0x7f) return DELETE_SIGN;
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}

/** At most `limit` UTF-16 units of the text, never half a character. */
export function clipped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}
