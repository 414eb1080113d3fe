/** Owns one place for what the tests of forms import. */
export { isObject, type JsonObject } from "../../src/internal/json.js";
export { elicitationForm } from "../../src/protocol/elicitationForm.js";
export { checkFormContent } from "../../src/protocol/form.js";
export { formMessages } from "../../src/protocol/formMessages.js";
export type { ElicitationForm, FormField, FormValue, FormValues } from "../../src/protocol/formTypes.js";
export { checkInputResponse } from "../../src/protocol/index.js";
