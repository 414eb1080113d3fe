/** Owns objects of options as hosts mistake them: right ones, wrong ones, unknown ones, and what is no object. */
import fc from "fast-check";
import { anyValue, hostileText } from "./hostile.js";

const RIGHT: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    1,
    10,
    1000,
    "auto",
    "always",
    "off",
    "track",
    "cancel",
    "fail",
    "retry",
    "never",
    "only",
  ),
  fc.constantFrom<unknown>(() => 0.5, undefined, { a: "b" }, {}, "some words"),
);

/** An object of some of the options, right and wrong, and rarely of one that there is not; or no object at all. */
export function options(
  names: readonly string[],
  nested: Readonly<Record<string, readonly string[]>> = {},
  right: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<unknown> {
  const value = (name: string): fc.Arbitrary<unknown> => {
    const inner = nested[name];
    const flat = fc.oneof({ weight: 3, arbitrary: right[name] ?? RIGHT }, { weight: 2, arbitrary: anyValue });
    return inner === undefined ? flat : fc.oneof(flat, options(inner));
  };
  const entry = fc.constantFrom(...names).chain((name) => value(name).map((given) => [name, given] as const));
  return fc.oneof(
    {
      weight: 20,
      arbitrary: fc.array(entry, { maxLength: 3 }).map((entries) => Object.fromEntries(entries) as unknown),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(hostileText, anyValue).map(([name, given]) => ({ [name]: given })),
    },
    { weight: 1, arbitrary: anyValue },
  );
}
