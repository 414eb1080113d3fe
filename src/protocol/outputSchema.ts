/** Owns the check of a tool's result against the tool's `outputSchema`, as the SDK's client does it. */
import { InvalidResultError } from "../errors.js";
import type { JsonObject } from "../internal/json.js";

/**
 * Resolves when the result fits, and for every result with `isError`. Rejects with `InvalidResultError`. The SDK's
 * validator is loaded with the first check: it compiles code at run time, which not every runtime allows.
 */
export async function checkStructuredContent(
  result: Readonly<Record<string, unknown>>,
  schema: JsonObject,
): Promise<void> {
  if (result["isError"] === true) return;
  const content = result["structuredContent"];
  if (content === undefined) {
    const error = new InvalidResultError(
      "The tool has an output schema but did not return structured content",
    );
    withoutContent.add(error);
    throw error;
  }
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/sdk/validation/ajv");
  let checked: { readonly valid: boolean; readonly errorMessage: string | undefined };
  try {
    checked = new AjvJsonSchemaValidator().getValidator(schema)(content);
  } catch (error) {
    throw new InvalidResultError("The tool's output schema cannot be used", { cause: error });
  }
  if (!checked.valid) {
    throw new InvalidResultError(
      `Structured content does not match the tool's output schema: ${checked.errorMessage ?? "no reason given"}`,
    );
  }
}

const withoutContent = new WeakSet<object>();

/** True for the error of a result that has nothing to check: the SDK has another code for it. */
export function lacksContent(error: InvalidResultError): boolean {
  return withoutContent.has(error);
}
