/** Owns chance in the simulation: streams of numbers that depend on the seed and their name only. It decides nothing. */

/** One stream of chance. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** True in this part of the cases. */
  chance(part: number): boolean;
  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** Another stream: what is drawn there changes nothing here, so that one actor can be left out without moving the others. */
  fork(name: string): Random;
}

/** The stream of a name. The same name gives the same numbers, in every process. */
export function createRandom(name: string): Random {
  let a = hashText(name);
  let b = hashText(`${name}/b`) | 1;
  let calls = 0;
  const next = (): number => {
    calls += 1;
    a = (a + 0x9e3779b9) | 0;
    let mixed = Math.imul(a ^ (a >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    b = (Math.imul(b, 0x2c1b3c6d) + calls) | 0;
    return ((mixed ^ (mixed >>> 15) ^ b) >>> 0) / 2 ** 32;
  };
  return {
    next,
    chance: (part) => part > 0 && next() < part,
    int: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: (items) => items[Math.floor(next() * items.length)] as never,
    fork: (child) => createRandom(`${name}/${child}`),
  };
}

/** FNV-1a, 32 bits, going on from an earlier hash. */
export function hashText(text: string, from = 0x811c9dc5): number {
  let hash = from;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
