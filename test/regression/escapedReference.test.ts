/** F142: a reference written as URLs are (`#/$defs/My%20P`) led nowhere, and the choice could not be made. */
import { expect, test } from "vitest";
import { elicitationForm } from "../../src/protocol/elicitationForm.js";
import { checkFormContent } from "../../src/protocol/form.js";

const low = { type: "string", enum: ["low"] };

test.each([
  ["#/$defs/My%20P", "My P"],
  ["#/$defs/%C3%A4%7E1b", "ä/b"],
  ["#/$defs/a%41", "a%41"],
  ["#/$defs/100%", "100%"],
])("%s is the definition %s", ($ref, name) => {
  const schema = { type: "object", properties: { p: { $ref } }, $defs: { [name]: low } };
  expect(elicitationForm(schema).fields[0]).toMatchObject({ kind: "select", options: [{ value: "low" }] });
  expect(checkFormContent(schema, { p: "low" })).toEqual({ p: "low" });
  expect(() => checkFormContent(schema, { p: "mid" })).toThrow("not one of the choices");
});
