/** Owns what every target must keep: which errors may come, what they may show, and that no prototype was touched. */
import { inspect } from "node:util";
import type fc from "fast-check";
import { TasksError } from "../../src/errors.js";
import { PLANTED } from "./hostile.js";
import type { BytePlan } from "./bytes.js";

/** What became of an input. */
export type Verdict = "accepted" | "refused";

/** A target whose inputs have a structure. */
export interface StructureTarget {
  readonly kind: "structure";
  readonly name: string;
  /** Its share of all inputs. */
  readonly weight: number;
  readonly arbitrary: fc.Arbitrary<unknown>;
  /** Throws what is wrong. */
  readonly run: (input: never) => Verdict | Promise<Verdict>;
}

/** A target that reads bytes. */
export interface ByteTarget {
  readonly kind: "bytes";
  readonly name: string;
  readonly weight: number;
  readonly bases: readonly Uint8Array[];
  readonly run: (bytes: Buffer, chunks: Uint8Array[], plan: BytePlan) => Verdict | Promise<Verdict>;
}

export type Target = StructureTarget | ByteTarget;

/** Makes a target of arbitrary and run, with the input's type known to both. */
export function structure<Input>(
  name: string,
  weight: number,
  arbitrary: fc.Arbitrary<Input>,
  run: (input: Input) => Verdict | Promise<Verdict>,
): StructureTarget {
  return { kind: "structure", name, weight, arbitrary, run: run };
}

/** Something that must not be. */
export class Finding extends Error {}

export function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Finding(what);
}

interface Allowed {
  /** The caller's mistakes: a TypeError that names one of these. */
  readonly named?: readonly string[];
  /** What came from the server is not shown; false where its text is kept and nothing planted is known. */
  readonly shows?: "nothing planted" | "server text";
}

/** The refusal that an error stands for. Throws a finding for every other error. */
export function refusal(error: unknown, { named, shows = "nothing planted" }: Allowed = {}): "refused" {
  if (error instanceof Finding) throw error;
  if (error instanceof TypeError && named !== undefined) {
    must(
      named.some((name) => error.message.includes(name)),
      `a TypeError names no field: ${error.message}`,
    );
    return "refused";
  }
  must(error instanceof TasksError, `outside the taxonomy: ${inspect(error)}`);
  if (shows === "nothing planted") {
    must(
      !`${error.message}\n${error.stack ?? ""}`.includes(PLANTED),
      `a message shows a secret: ${error.name}`,
    );
  }
  return "refused";
}

/** Runs what accepts or throws. */
export function judged(run: () => void, allowed?: Allowed): Verdict {
  try {
    run();
    return "accepted";
  } catch (error) {
    return refusal(error, allowed);
  }
}

export async function judgedAsync(run: () => Promise<unknown>, allowed?: Allowed): Promise<Verdict> {
  try {
    await run();
    return "accepted";
  } catch (error) {
    return refusal(error, allowed);
  }
}

/** Equal as JSON, own `__proto__` keys included. */
export function sameJson(a: unknown, b: unknown, what: string): void {
  must(JSON.stringify(a) === JSON.stringify(b), `not the same: ${what}`);
}

/** No object that was made has a prototype of the server's making. */
export function plain(value: unknown, what: string, depth = 0): void {
  if (typeof value !== "object" || value === null || depth > 12) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  const known = prototype === null || prototype === Object.prototype || prototype === Array.prototype;
  must(known, `${what} has a prototype that it should not have`);
  for (const member of Object.values(value)) plain(member, what, depth + 1);
}

const builtins = [Object.prototype, Array.prototype, String.prototype, Function.prototype, Map.prototype];
const keysBefore = builtins.map((one) => Reflect.ownKeys(one).length);

/** Throws when a built-in prototype has gained or lost a key. */
export function prototypesUntouched(): void {
  builtins.forEach((one, at) =>
    must(Reflect.ownKeys(one).length === keysBefore[at], "a built-in prototype was changed"),
  );
}
