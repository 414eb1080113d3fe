/** Owns the English texts of forms. They quote nothing of the server's. */
import type { FormMessages, UnsupportedReason } from "./formTypes.js";

const reasons: Readonly<Record<UnsupportedReason, string>> = {
  schema: "This is not a form that can be read.",
  conditions: "This form has rules about several fields together, which cannot be shown.",
  "too-large": "This form is too large to be shown.",
  "not-asked": "The form requires this value, but does not say what it is.",
  reference: "The form does not say what this field expects: it points to something that is not there.",
  "no-type": "The form does not say what this field expects.",
  "several-types": "This field may be of several types, which cannot be shown.",
  nested: "This field has parts of its own, which cannot be shown.",
  list: "This field is a list without choices, which cannot be shown.",
  choices: "This field has no choices that can be shown.",
  kind: "This field is of a kind that forms do not have.",
};

/** The default texts. */
export const formMessages: Required<FormMessages> = {
  required: "Please fill this in.",
  notANumber: "Please enter a number, such as 12.5.",
  notAnInteger: "Please enter a whole number.",
  notAChoice: "Please choose one of the options.",
  choiceTwice: "Please choose each option once.",
  wrongType: "This is not what the field expects.",
  minLength: (limit) => `Please enter at least ${counted(limit, "character")}.`,
  maxLength: (limit) => `Please enter at most ${counted(limit, "character")}.`,
  minimum: (limit) => `Please enter ${limit} or more.`,
  maximum: (limit) => `Please enter ${limit} or less.`,
  exclusiveMinimum: (limit) => `Please enter more than ${limit}.`,
  exclusiveMaximum: (limit) => `Please enter less than ${limit}.`,
  minItems: (limit) => `Please choose at least ${counted(limit, "option")}.`,
  maxItems: (limit) => `Please choose at most ${counted(limit, "option")}.`,
  format: (format) => `Please enter ${formats[format] ?? "a text in the format that is asked for"}.`,
  unsupported: "This cannot be answered here.",
  reason: (why) => reasons[why],
};

const formats: Readonly<Record<string, string>> = {
  email: "an e-mail address",
  uri: "a full address, such as https://example.com",
  date: "a date, such as 2026-07-28",
  "date-time": "a date and time with its zone, such as 2026-07-28T10:30:00Z",
};

function counted(limit: number, what: string): string {
  return `${limit} ${what}${limit === 1 ? "" : "s"}`;
}
