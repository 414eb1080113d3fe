/** Owns how a test's program reads what it was given. Imports nothing: programs start fast. */

/** The `input` of `Programs.start`. */
export function programInput<Input>(): Input {
  return JSON.parse(process.env["PROGRAM_INPUT"] ?? "{}") as Input;
}
