/** Owns which field is wrong: by the form's own check, by what the browser cannot read, by the host. Names are a server's: any text. */
import type { FormField, FormValues } from "../protocol/formTypes.js";
import type { Labels } from "./labelTypes.js";
import type { CardState } from "./useAnswering.js";

/** What is wrong, by field name. */
export type FieldErrors = Readonly<Record<string, string>>;

/** The member itself, never one that every object has. */
export function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The page's own findings, and the host's where it named a field of the form. */
export function fieldErrors(
  fields: readonly FormField[],
  own: FieldErrors,
  state: CardState | undefined,
): FieldErrors {
  if (state?.kind !== "invalid" || state.field === undefined) return own;
  const name = state.field.replace(/^content\./, "");
  return fields.some((field) => field.name === name) ? { [name]: state.message, ...own } : own;
}

/** What is wrong besides what the form's own check finds. */
export interface MoreErrors {
  /** The drawn form: it knows of half-typed dates, which browsers hide from a page as if they were empty. */
  readonly form: HTMLFormElement | null;
  readonly fields: readonly FormField[];
  readonly values: FormValues;
  readonly labels: Pick<Labels, "incompleteDate" | "undecided">;
}

/** Adds half-typed dates, and a required yes or no that nobody decided: the form's check would count that as "no". */
export function withMoreErrors(
  errors: FieldErrors,
  { form, fields, values, labels }: MoreErrors,
): FieldErrors {
  const found = Object.entries(errors);
  for (const field of fields) {
    const undecided =
      field.kind === "boolean" && field.required && ownValue(values, field.name) === undefined;
    if (undecided) found.push([field.name, labels.undecided]);
  }
  form?.querySelectorAll<HTMLInputElement>("input[data-field]").forEach((input) => {
    const field = fields[Number(input.dataset["field"])];
    if (field !== undefined && input.validity.badInput) found.push([field.name, labels.incompleteDate]);
  });
  return Object.fromEntries(found);
}
