/** Owns the target of forms: any schema is read without throwing, and any input becomes content that fits, or errors. */
import fc from "fast-check";
import { checkFormContent } from "../../src/protocol/form.js";
import { elicitationForm } from "../../src/protocol/elicitationForm.js";
import type { FormValues } from "../../src/protocol/formTypes.js";
import { isObject, type JsonObject } from "../../src/internal/json.js";
import { must, plain, sameJson, structure, type Verdict } from "./guard.js";
import { honest } from "./fromSchema.js";
import { anyValue, hostileJson, hostileText, mutated, objectOf, PLANTED, type Value } from "./hostile.js";

const MAX_FIELDS = 200;
const NAMES = ["a", "b", "__proto__", "constructor", ""];
const name = fc.constantFrom(...NAMES);

const field: fc.Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: honest("mcp", "PrimitiveSchemaDefinition") },
  { weight: 4, arbitrary: mutated(honest("mcp", "PrimitiveSchemaDefinition")) },
  { weight: 1, arbitrary: hostileJson },
  { weight: 1, arbitrary: fc.constantFrom<Value>({ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }) },
);

const schema: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc
      .tuple(
        fc.array(fc.tuple(name, field), { maxLength: 3 }),
        fc.subarray(NAMES),
        fc.tuple(field, fc.boolean()),
      )
      .map(([entries, required, [more, isStrict]]): Value => ({
        type: "object",
        properties: objectOf(entries),
        ...(isStrict && { required }),
        $defs: { a: { $ref: "#/$defs/a" }, b: more },
      })),
  },
  { weight: 1, arbitrary: mutated(honest("mcp", "ElicitRequestFormParams")).map((params) => member(params)) },
  { weight: 1, arbitrary: anyValue },
);

function member(params: Value): unknown {
  return isObject(params) ? params["requestedSchema"] : params;
}

const value = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>("5", "1e999", "-0", "x@y.example", true, false, [], undefined),
  fc.integer({ min: -10, max: 10 }),
  fc.double(),
  fc.array(hostileText, { maxLength: 3 }),
  anyValue,
);
const values: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 10, arbitrary: fc.array(fc.tuple(name, value), { maxLength: 4 }).map(objectOf) },
  { weight: 3, arbitrary: fc.constant("what is there first, and what fits") },
  { weight: 1, arbitrary: anyValue },
);

function check([requestedSchema, given]: [unknown, unknown]): Verdict {
  const schemaOrNot = requestedSchema as JsonObject;
  const form = elicitationForm(schemaOrNot);
  const { fields, acceptable, reason, initialValues } = form;
  must(fields.length <= MAX_FIELDS, "more fields than are drawn");
  must(acceptable === (reason === undefined), "no reason, or one too many");
  must(
    !acceptable || fields.every(({ kind }) => kind !== "unsupported"),
    "a form that cannot be drawn may be accepted",
  );
  for (const one of fields) {
    must(one.label.length + (one.help?.length ?? 0) < 6000, "a text that was not cut");
    must(!(one.reason ?? "").includes(PLANTED), "a reason quotes the server");
    plain(one, "a field");
  }
  const entered = typeof given === "string" ? { ...initialValues } : given;
  const { content, errors } = form.parse(entered as FormValues);
  must((content === undefined) !== (errors === undefined), "neither content nor errors, or both");
  must(Object.getPrototypeOf(content ?? errors) === null, "names of a prototype are in the way");
  if (content === undefined) {
    must(
      !Object.values(errors ?? {})
        .join()
        .includes(PLANTED),
      "an error quotes the server, or the person",
    );
    return "refused";
  }
  must(acceptable, "content of a form that may not be accepted");
  sameJson(checkFormContent(schemaOrNot, content), content, "content, checked as every answer is");
  return "accepted";
}

export const formTargets = [structure("form", 8, fc.tuple(schema, values), check)];
