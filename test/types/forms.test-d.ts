/** Compiled, never run: what a form gives is known by its type. */
import {
  elicitationForm,
  type FormField,
  type FormMessages,
  type FormValues,
  type JsonObject,
  type ParsedForm,
  type TaskInputRequest,
} from "../../src/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** The type parameter is the test; the value is only there to be looked at. */
function same<_Holds extends true>(_value?: unknown): void {
  // Nothing to run.
}

export function usage(request: Extract<TaskInputRequest, { kind: "elicitation-form" }>): void {
  const form = elicitationForm(request.requestedSchema);
  same<Equal<typeof form.initialValues, FormValues>>();
  for (const field of form.fields) {
    same<Equal<typeof field, FormField>>();
    same<Equal<typeof field.warning, "secret" | undefined>>();
    same<Equal<typeof field.format, "email" | "uri" | "date" | "date-time" | undefined>>();
    switch (field.kind) {
      case "string":
      case "number":
      case "integer":
      case "boolean":
      case "select":
      case "multi-select":
      case "unsupported":
        break;
      default:
        same<Equal<typeof field.kind, never>>();
    }
  }

  // Either member tells which of the two it is.
  const parsed: ParsedForm = form.parse({ a: "x", b: 5, c: true, d: ["x"], e: undefined });
  if (parsed.errors === undefined) same<Equal<typeof parsed.content, JsonObject>>();
  else {
    same<Equal<typeof parsed.content, undefined>>();
    same<Equal<typeof parsed.errors, Readonly<Record<string, string>>>>();
  }
  if (parsed.content !== undefined) same<Equal<typeof parsed.errors, undefined>>();

  const { parse } = form;
  parse({});

  const messages: Partial<FormMessages> = { required: "!", minLength: (limit) => `${limit}` };
  elicitationForm({}, { messages });

  // @ts-expect-error A text that there is not.
  elicitationForm({}, { messages: { needed: "!" } });
  // @ts-expect-error Limits come with a number.
  elicitationForm({}, { messages: { maxLength: "too long" } });
  // @ts-expect-error No value of a field.
  form.parse({ a: new Date() });
}
