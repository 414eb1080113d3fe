/** Owns one example of every state that a card can be in, for the checks that look at all of them. */
import type { AnswerOutcome } from "../../src/approvals/storeTypes.js";
import type { TaskView } from "../../src/approvals/wire.js";
import type { JsonObject } from "../../src/internal/json.js";
import type { MountOptions } from "./page/lab.js";
import { answered, asking, ended, form, task } from "./page/views.js";

export interface Example {
  readonly name: string;
  readonly mount: Partial<MountOptions>;
  /** The button to press first. */
  readonly press?: string;
  readonly settle?: AnswerOutcome;
  readonly put?: TaskView;
}

const everyField: JsonObject = {
  name: {
    type: "string",
    title: "Your name",
    description: "As it stands on the ticket",
    minLength: 2,
    maxLength: 60,
  },
  email: { type: "string", title: "Email", format: "email" },
  day: { type: "string", title: "Day", format: "date" },
  at: { type: "string", title: "Departure", format: "date-time", default: "2026-05-01T08:30:00Z" },
  seats: { type: "integer", title: "Seats", minimum: 1, maximum: 9, default: 2 },
  quiet: { type: "boolean", title: "Quiet car", default: true },
  insure: { type: "boolean", title: "Insurance" },
  class: { type: "string", title: "Class", enum: ["1", "2"], enumNames: ["First", "Second"], default: "2" },
  city: { type: "string", title: "To", enum: ["Berlin", "Köln", "Hamburg", "München", "Leipzig", "Bremen"] },
  extras: { type: "array", title: "Extras", items: { type: "string", enum: ["Bike", "Dog", "Lunch"] } },
  password: { type: "string", title: "Password", pattern: "^[a-z]+$" },
};

const question = asking(form({}, [], "Deploy release 4f2c9e1 to production?"));
const fields = asking(form(everyField, ["name", "insure", "city"], "For the booking I need a few details."));
const page = (url: string): TaskView =>
  asking({ kind: "elicitation-url", message: "Please sign in to your bank to allow the transfer.", url });
const model = asking({
  kind: "sampling",
  params: {
    systemPrompt: "You write kindly.",
    messages: [
      { role: "user", content: { type: "text", text: "Tell the travellers that the train is late." } },
      { role: "user", content: { type: "image", data: "aGVsbG8=", mimeType: "image/png" } },
    ],
    maxTokens: 200,
    modelPreferences: { hints: [{ name: "small" }] },
  },
});

const later = "2126-03-04T10:00:00.000Z";
const running = task({ id: "t1", statusMessage: "Step 3 of 8: running the tests", expiresAt: later });

/** Every state of a question's card, then every state of a task's card. */
export const gallery: readonly Example[] = [
  { name: "confirmation", mount: { tasks: [{ ...question, expiresAt: later }] } },
  { name: "form", mount: { tasks: [fields] } },
  { name: "form-wrong", mount: { tasks: [fields] }, press: "Accept" },
  { name: "form-unsupported", mount: { tasks: [asking(form({ f: { type: "object" } }))] } },
  {
    name: "policy",
    mount: {
      tasks: [asking(form({}, [], "Go on?"), { answeredByPolicyAt: later, policyAction: "decline" })],
    },
  },
  { name: "url", mount: { tasks: [page("https://bank.example/authorize?client=workshop&scope=transfer")] } },
  { name: "url-odd", mount: { tasks: [page("http://bank.example@xn--80ak6aa92e.com/login")] } },
  { name: "url-refused", mount: { tasks: [page("javascript:alert(1)")] } },
  { name: "sampling", mount: { tasks: [model] } },
  { name: "sampling-result", mount: { tasks: [model], host: "samples" }, press: "Run the model" },
  { name: "sampling-running", mount: { tasks: [model], host: "hangs" }, press: "Run the model" },
  { name: "sampling-failed", mount: { tasks: [model], host: "fails" }, press: "Run the model" },
  {
    name: "roots",
    mount: { tasks: [asking({ kind: "roots" })], host: "samples" },
    press: "Show the folders",
  },
  { name: "sending", mount: { tasks: [question] }, press: "Accept" },
  {
    name: "answered",
    mount: { tasks: [question] },
    press: "Accept",
    settle: { kind: "answered", answeredAt: "2026-03-04T10:00:00.000Z" },
  },
  {
    name: "elsewhere",
    mount: { tasks: [question] },
    put: answered(question, { by: "Maria", action: "decline" }),
  },
  { name: "over", mount: { tasks: [question] }, put: ended(question, { status: "cancelled" }) },
  {
    name: "failed",
    mount: { tasks: [question] },
    press: "Accept",
    settle: { kind: "failed", message: "offline" },
  },
  {
    name: "refused",
    mount: { tasks: [question] },
    press: "Accept",
    settle: { kind: "refused", message: "signed out" },
  },
  { name: "inbox", mount: { scene: "inbox", tasks: [question, asking(form({}), {}, "t2")] } },
  { name: "inbox-empty", mount: { scene: "inbox", state: { connection: "reconnecting", truncated: true } } },
  { name: "inbox-refused", mount: { scene: "inbox", state: { connection: "refused", loaded: false } } },
  { name: "task-working", mount: { scene: "tasks", tasks: [running] } },
  {
    name: "task-asking",
    mount: {
      scene: "tasks",
      tasks: [
        {
          ...question,
          answers: answered(question, { key: "q0", by: "Kim", message: "Which branch?" }).answers,
        },
      ],
    },
  },
  { name: "task-cancelling", mount: { scene: "tasks", tasks: [{ ...running, cancelRequested: true }] } },
  { name: "task-completed", mount: { scene: "tasks", tasks: [ended(running, { status: "completed" })] } },
  {
    name: "task-tool-error",
    mount: { scene: "tasks", tasks: [ended(running, { status: "completed", isError: true })] },
  },
  {
    name: "task-failed",
    mount: {
      scene: "tasks",
      tasks: [ended(running, { status: "failed", error: { code: -32603, message: "the disk is full" } })],
    },
  },
  { name: "task-cancelled", mount: { scene: "tasks", tasks: [ended(running, { status: "cancelled" })] } },
  {
    name: "task-lost",
    mount: { scene: "tasks", tasks: [ended(running, { status: "lost", reason: "expired" })] },
  },
];
