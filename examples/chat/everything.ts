/** Owns one question of every kind, with a field of every kind. Data only. */
import type { JsonObject } from "mcp-taskrail";
import type { TestInputRequest } from "mcp-taskrail/testing";

const form = (
  message: string,
  properties: JsonObject,
  required: readonly string[] = [],
): TestInputRequest => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});

/** A field of every kind that the protocol knows; the browser tests fill in the same one. */
export const EVERY_FIELD: JsonObject = {
  name: { type: "string", title: "Name", description: "As on the passport", minLength: 2, maxLength: 40 },
  email: { type: "string", title: "E-mail", format: "email" },
  site: { type: "string", title: "Website", format: "uri" },
  day: { type: "string", title: "Day", format: "date" },
  moment: { type: "string", title: "Moment", format: "date-time" },
  price: { type: "number", title: "Price", minimum: 0, maximum: 1000 },
  seats: { type: "integer", title: "Seats", minimum: 1, maximum: 8, default: 2 },
  window: { type: "boolean", title: "By the window", default: false },
  train: { type: "string", title: "Train", enum: ["ICE 74", "RE 5", "TGV 9"] },
  fare: {
    type: "string",
    title: "Fare",
    oneOf: [
      { const: "full", title: "Full fare" },
      { const: "half", title: "Half fare" },
    ],
  },
  meal: {
    type: "string",
    title: "Meal",
    enum: ["none", "veg", "meat"],
    enumNames: ["No meal", "Vegetarian", "With meat"],
  },
  extras: {
    type: "array",
    title: "Extras",
    items: { type: "string", enum: ["bike", "dog", "wifi"] },
    maxItems: 2,
  },
  days: {
    type: "array",
    title: "Travel days",
    items: {
      anyOf: [
        { const: "sat", title: "Saturday" },
        { const: "sun", title: "Sunday" },
      ],
    },
    minItems: 1,
  },
};

/** By the key under which the server asks it. */
export const EVERYTHING: Readonly<Record<string, TestInputRequest>> = {
  form: form("A ticket, with every kind of field", EVERY_FIELD, ["name", "seats", "train", "days"]),
  confirm: form("Shall I also remind you the day before?", {}),
  secret: form("The booking system wants to know this", { password: { type: "string", title: "Password" } }),
  odd: form("This one cannot be drawn", { where: { type: "object", title: "Coordinates" } }),
  visit: {
    method: "elicitation/create",
    params: {
      mode: "url",
      message: "Pay the reservation fee on the railway's own page",
      url: "https://pay.railway.example/reservation/4711?return=desk",
      elicitationId: "fee",
    },
  },
  model: {
    method: "sampling/createMessage",
    params: {
      systemPrompt: "You write short, friendly notes.",
      messages: [{ role: "user", content: { type: "text", text: "Write a note to the travellers." } }],
      maxTokens: 100,
    },
  },
  folders: { method: "roots/list", params: {} },
};
