/**
 * Owns how a question is put to a person and made into a response. It decides nothing for the person, opens no URL,
 * and prints no text of the server as it came.
 */
import type { InputRequest, JsonObject, TaskInputRequest } from "mcp-taskrail";
import { printable } from "../printable.js";
import { formFields, readField, type Field } from "./formFields.js";
import type { Person } from "./person.js";

/** A response to send, or undefined: it stays open, for a later answer. */
export async function prompt(request: TaskInputRequest, person: Person): Promise<JsonObject | undefined> {
  person.say(`\n[${printable(request.serverDisplayName, 40)}] asks, about ${printable(request.tool, 40)}:`);
  switch (request.kind) {
    case "elicitation-form":
      return promptForm(request, request.signal, person);
    case "elicitation-url":
      return promptUrl(request, request.signal, person);
    case "sampling":
    case "roots":
      person.say("  (not a question for a person; left open)");
      return undefined;
  }
}

async function promptForm(
  request: Extract<InputRequest, { kind: "elicitation-form" }>,
  signal: AbortSignal,
  person: Person,
): Promise<JsonObject | undefined> {
  person.say(`  ${printable(request.message)}`);
  const fields = formFields(request.requestedSchema);
  if (fields === undefined) {
    // A form that cannot be shown in full must not become a blind approval.
    person.say("  It has fields that cannot be filled in here, so it can only be declined or left open.");
    return choose(await person.ask("  Decline (n), or later (l)?", signal), undefined);
  }
  const choice = await person.ask("  Answer (y), decline (n), or later (l)?", signal);
  return choose(choice, choice === "y" ? await fillIn(fields, signal, person) : undefined);
}

async function fillIn(fields: readonly Field[], signal: AbortSignal, person: Person): Promise<JsonObject> {
  const content: [string, string | number | boolean][] = [];
  for (const field of fields) {
    const value = readField(field, await person.ask(`  ${field.question}`, signal));
    if (value !== undefined) content.push([field.name, value]);
  }
  return { action: "accept", content: Object.fromEntries(content) };
}

async function promptUrl(
  request: Extract<InputRequest, { kind: "elicitation-url" }>,
  signal: AbortSignal,
  person: Person,
): Promise<JsonObject | undefined> {
  person.say(`  ${printable(request.message)}`);
  // The whole address, and the part that tells whom one would talk to. Whether to go there is the person's choice.
  person.say(`  Address: ${printable(request.url, 2000)}`);
  person.say(`  Host:    ${printable(new URL(request.url).host)}`);
  const choice = await person.ask("  Done there (y), decline (n), or later (l)?", signal);
  return choose(choice, choice === "y" ? { action: "accept" } : undefined);
}

/** Whatever is not a clear word stays open: nothing is decided by a typing mistake. */
function choose(choice: string, accepted: JsonObject | undefined): JsonObject | undefined {
  return choice === "n" ? { action: "decline" } : accepted;
}
