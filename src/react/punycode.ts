/** Owns reading host names with letters beyond a–z as people see them (RFC 3492). Pure; it never looks anything up. */

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const MAX_LABEL = 63;

/** The host with its `xn--` labels decoded; a label that cannot be decoded stays as it is. */
export function unicodeHost(host: string): string {
  return host
    .split(".")
    .map((label) => (label.startsWith("xn--") ? (decodeLabel(label.slice(4)) ?? label) : label))
    .join(".");
}

function decodeLabel(label: string): string | undefined {
  if (label.length > MAX_LABEL) return undefined;
  const cut = label.lastIndexOf("-");
  const output = [...label.slice(0, Math.max(cut, 0))].map((letter) => letter.charCodeAt(0));
  let code = 128;
  let bias = 72;
  let insertAt = 0;
  for (let at = cut < 0 ? 0 : cut + 1; at < label.length;) {
    const before = insertAt;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(label.charCodeAt(at++));
      if (digit === undefined) return undefined;
      insertAt += digit * weight;
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = output.length + 1;
    bias = adapted(insertAt - before, length, before === 0);
    code += Math.floor(insertAt / length);
    if (code > 0x10ffff) return undefined;
    insertAt %= length;
    output.splice(insertAt++, 0, code);
  }
  return String.fromCodePoint(...output);
}

function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26;
  if (code >= 0x61 && code <= 0x7a) return code - 0x61;
  return undefined;
}

function adapted(delta: number, length: number, first: boolean): number {
  let rest = first ? Math.floor(delta / DAMP) : delta >> 1;
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
