/** Owns the byte-level fuzzer: seeded mutations of valid bytes, the chunks they come in, and the shrinking of what failed. */

/** Numbers in [0, below), all from one seed. */
export type Chance = (below: number) => number;

/** A generator by mulberry32. */
export function chance(seed: number): Chance {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below) | 0;
  };
}

/** One mutation; positions are fractions, so that they fit whatever is left of the bytes. */
export interface ByteMutation {
  readonly kind: "flip" | "set" | "insert" | "delete" | "repeat" | "splice" | "cut";
  readonly at: number;
  readonly length: number;
  readonly bytes: readonly number[];
}

/** What one input is made of. */
export interface BytePlan {
  readonly base: number;
  readonly mutations: readonly ByteMutation[];
  /** Where chunks end, as fractions; one byte each where there is a 0. */
  readonly chunkEnds: readonly number[];
  /** Beside the bytes: which status, which type, … */
  readonly extra: number;
}

const KINDS = ["flip", "set", "insert", "delete", "repeat", "splice", "cut"] as const;
/** Bytes that mean something to JSON, UTF-8 and event streams. */
const TELLING = [
  ...Buffer.from('{}[]",:\\\n\r \0-0123456789eEtfn'),
  0xff,
  0xc3,
  0xe2,
  0x82,
  0xef,
  0xbb,
  0xbf,
  0xed,
  0xa0,
  0x80,
];
const DENOMINATOR = 10_000;

/** The plan that a seed stands for; a fifth of all change nothing but the chunks. */
export function planOf(seed: number, bases: number): BytePlan {
  const pick = chance(seed);
  const count = pick(5) === 0 ? 0 : 1 + pick(4);
  return {
    base: pick(bases),
    mutations: Array.from({ length: count }, () => ({
      kind: KINDS[pick(KINDS.length)] ?? "flip",
      at: pick(DENOMINATOR),
      length: 1 + pick(pick(3) === 0 ? 64 : 4),
      bytes: Array.from({ length: 1 + pick(4) }, () =>
        pick(3) === 0 ? pick(256) : (TELLING[pick(TELLING.length)] ?? 0),
      ),
    })),
    chunkEnds: pick(8) === 0 ? [0] : Array.from({ length: pick(5) }, () => 1 + pick(DENOMINATOR - 1)),
    extra: pick(1_000_000),
  };
}

/** The bytes of a plan. */
export function bytesOf(plan: BytePlan, bases: readonly Uint8Array[]): Buffer {
  const start = Buffer.from(bases[plan.base % bases.length] ?? []);
  return plan.mutations.reduce<Buffer>((bytes, mutation) => mutate(bytes, mutation, start), start);
}

function mutate(bytes: Buffer, { kind, at, length, bytes: given }: ByteMutation, source: Buffer): Buffer {
  const from = Math.floor((at / DENOMINATOR) * bytes.length);
  const before = bytes.subarray(0, from);
  const rest = bytes.subarray(from);
  switch (kind) {
    case "flip": {
      const copy = Buffer.from(bytes);
      const byte = copy[from];
      if (byte !== undefined) copy[from] = byte ^ (1 << (length % 8));
      return copy;
    }
    case "set":
      return Buffer.concat([before, Buffer.from(given), rest.subarray(given.length)]);
    case "insert":
      return Buffer.concat([before, Buffer.from(given), rest]);
    case "delete":
      return Buffer.concat([before, rest.subarray(length)]);
    case "repeat":
      return Buffer.concat([before, rest.subarray(0, length), rest]);
    case "splice": {
      const other = Math.floor(source.length * ((at * 7919) % DENOMINATOR)) / DENOMINATOR;
      return Buffer.concat([before, source.subarray(other, other + length * 8), rest]);
    }
    case "cut":
      return Buffer.from(before);
  }
}

/** The bytes in the plan's chunks. */
export function chunksOf(bytes: Buffer, { chunkEnds }: BytePlan): Uint8Array[] {
  if (chunkEnds[0] === 0) return [...bytes].map((byte) => Uint8Array.of(byte));
  const ends = [...chunkEnds]
    .map((end) => Math.floor((end / DENOMINATOR) * bytes.length))
    .sort((a, b) => a - b);
  let from = 0;
  return [...ends, bytes.length].map((end) => {
    const chunk = Uint8Array.from(bytes.subarray(from, end));
    from = end;
    return chunk;
  });
}

/** A plan that still fails and has nothing to leave out. */
export async function shrunk(plan: BytePlan, fails: (plan: BytePlan) => Promise<boolean>): Promise<BytePlan> {
  let best = plan;
  for (let again = true; again;) {
    again = false;
    const smaller: BytePlan[] = [
      ...best.mutations.map((_, at) => ({ ...best, mutations: best.mutations.filter((__, i) => i !== at) })),
      ...(best.chunkEnds.length > 0 ? [{ ...best, chunkEnds: [] }] : []),
    ];
    for (const candidate of smaller) {
      if (await fails(candidate)) {
        best = candidate;
        again = true;
        break;
      }
    }
  }
  return best;
}
