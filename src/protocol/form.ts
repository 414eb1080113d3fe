/** Owns whether the content of a form fits its schema. It fills in no defaults and converts nothing. */
import { InvalidInputResponseError } from "../errors.js";
import { isObject, type JsonObject } from "../internal/json.js";
import { isLeftOut, valueProblem } from "./formValue.js";
import { MAX_FIELDS, startAt } from "./schemaReading.js";

/**
 * The content as it is to be sent. Members that are undefined, null or (where the schema does not list it) an empty
 * string count as left out. All members together take bounded work, at most 200 there may be. Throws `InvalidInputResponseError` naming the field, `content.<name>`.
 */
export function checkFormContent(requestedSchema: JsonObject, content: unknown): JsonObject {
  if (content !== undefined && !isObject(content)) {
    throw new InvalidInputResponseError("content", "expected an object");
  }
  const properties = isObject(requestedSchema["properties"]) ? requestedSchema["properties"] : {};
  const given = Object.entries(content ?? {});
  if (given.length > MAX_FIELDS) {
    throw new InvalidInputResponseError("content", `expected at most ${MAX_FIELDS} fields`);
  }
  const place = startAt(requestedSchema);
  const checked = {};
  for (const [name, value] of given) {
    const field = `content.${name}`;
    if (!Object.hasOwn(properties, name)) throw new InvalidInputResponseError(field, "was not asked for");
    if (isLeftOut(value, properties[name], place)) continue;
    const problem = valueProblem(value, properties[name], place);
    if (problem !== undefined) throw new InvalidInputResponseError(field, problem);
    Object.defineProperty(checked, name, { value, enumerable: true, configurable: true, writable: true });
  }
  const required = requestedSchema["required"];
  for (const name of Array.isArray(required) ? (required as unknown[]) : []) {
    if (typeof name === "string" && !Object.hasOwn(checked, name)) {
      throw new InvalidInputResponseError(`content.${name}`, "is required and must not be empty");
    }
  }
  return checked;
}
