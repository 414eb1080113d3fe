/** Owns the shapes of a form that can be drawn: fields, values, what parsing gives. Types only. */
import type { JsonObject } from "../internal/json.js";

/**
 * What kind of input a field needs. `unsupported`: this release cannot say how to ask for it, so it must not be drawn
 * as something else, and a form with one may not be accepted.
 */
export type FormFieldKind =
  "string" | "number" | "integer" | "boolean" | "select" | "multi-select" | "unsupported";

/** One choice of a `select` or `multi-select`. `value` is sent, `label` is shown. */
export interface FormOption {
  readonly value: string;
  readonly label: string;
}

/** What the schema demands of the value; only what it says is there. */
export interface FormLimits {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** One field of a form. Texts are the server's, unescaped: show them as text, never as HTML. */
export interface FormField {
  readonly name: string;
  /** The schema's `title`, or the name. */
  readonly label: string;
  /** The schema's `description`. */
  readonly help?: string;
  readonly kind: FormFieldKind;
  readonly required: boolean;
  /** Of the field's own type and among its options; a default of another type is left out. */
  readonly default?: string | number | boolean | readonly string[];
  readonly limits: FormLimits;
  /** Of a `string`: what the text must be. */
  readonly format?: "email" | "uri" | "date" | "date-time";
  /**
   * Of a `string`: the server's own regular expression, to be told of. Never run it: a hostile one blocks the page. The
   * server itself may refuse what does not match.
   */
  readonly pattern?: string;
  /** Of a `select` or `multi-select`. */
  readonly options?: readonly FormOption[];
  /** The field seems to ask for a password or a key, which the specification forbids servers to do: warn the person. */
  readonly warning?: "secret";
  /** Of `unsupported`: why, for people. */
  readonly reason?: string;
}

/**
 * Why a field or a form cannot be drawn. `schema`: not the schema of a form; `conditions`: rules about several fields;
 * `too-large`: more fields or choices than are drawn; `not-asked`: required, but not among the fields; `reference`: leads
 * nowhere, elsewhere or in a circle; `no-type`, `several-types`; `nested`: an object; `list`: a list without choices;
 * `choices`: none, or some that are not text; `kind`: a type that forms do not have.
 */
export type UnsupportedReason =
  | "schema"
  | "conditions"
  | "too-large"
  | "not-asked"
  | "reference"
  | "no-type"
  | "several-types"
  | "nested"
  | "list"
  | "choices"
  | "kind";

/** What a UI has for a field: text for strings and numbers, a boolean, a list of chosen values; undefined: untouched. */
export type FormValue = string | number | boolean | readonly string[] | undefined;

/** Values by field name. */
export type FormValues = Readonly<Record<string, FormValue>>;

/** The content as it is sent, or what is wrong, by field name. Both are objects without a prototype's names in the way. */
export type ParsedForm =
  | { readonly content: JsonObject; readonly errors?: undefined }
  | { readonly errors: Readonly<Record<string, string>>; readonly content?: undefined };

/** A form, ready to be drawn. */
export interface ElicitationForm {
  /** In the order of the schema. Empty: a plain confirmation. */
  readonly fields: readonly FormField[];
  /** False when some field, or the form as a whole, is unsupported: offer decline and dismiss only, and say why. */
  readonly acceptable: boolean;
  /** Of a form that is not acceptable: why, for people. */
  readonly reason?: string;
  /** What the inputs show first, by name: the defaults, and an empty list where that is an answer (see `parse`). */
  readonly initialValues: FormValues;
  /**
   * Checks what the person put in. Never throws. What it gives as content fits the schema. It fills in no defaults:
   * begin with `initialValues`. An untouched or emptied field is left out, or an error where it is required. So is a
   * boolean that nobody touched: a box that nobody ticked decides nothing. Draw one without a default as a choice of
   * yes and no; a UI that draws an empty box instead, and takes it for a no, begins with `false` itself.
   * A multi-select without a choice is sent as an empty list where it is required with `minItems: 0`, and where its
   * default was taken away. The errors of a form that is not acceptable are under the fields' names, and under `""`
   * where they are about the form as a whole.
   */
  readonly parse: (values: FormValues) => ParsedForm;
}

/** The texts that a form makes by itself; replace any of them for other languages. */
export interface FormMessages {
  readonly required: string;
  readonly notANumber: string;
  readonly notAnInteger: string;
  readonly notAChoice: string;
  readonly choiceTwice: string;
  readonly wrongType: string;
  readonly minLength: (limit: number) => string;
  readonly maxLength: (limit: number) => string;
  readonly minimum: (limit: number) => string;
  readonly maximum: (limit: number) => string;
  readonly exclusiveMinimum: (limit: number) => string;
  readonly exclusiveMaximum: (limit: number) => string;
  readonly minItems: (limit: number) => string;
  readonly maxItems: (limit: number) => string;
  readonly format: (format: string) => string;
  /** In the place of an answer to a field, or form, that cannot be drawn. */
  readonly unsupported: string;
  /** The text of `reason`. */
  readonly reason?: (why: UnsupportedReason) => string;
}
