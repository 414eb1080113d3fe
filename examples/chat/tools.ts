/** Owns the tools of the story, as the task server runs them. They know nothing of the chat. */
import { createHash } from "node:crypto";
import type { JsonObject } from "mcp-taskrail";
import type { RunContext, TestInputRequest, TestTool } from "mcp-taskrail/testing";
import { EVERYTHING } from "./everything.js";
import type { SignInPage } from "./signInPage.js";

const object = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const string: JsonObject = { type: "string" };
const number: JsonObject = { type: "number" };

/** All of them. They are as slow as a demonstration needs; `stepMs` makes one faster. */
export function storyTools(signIn: SignInPage): readonly TestTool[] {
  return [
    {
      name: "deploy",
      title: "Deploy",
      description: "Builds, asks for approval, deploys.",
      inputSchema: object({ env: string, stepMs: number }),
      annotations: { destructiveHint: true },
      async run(context) {
        const env = textOf(context.arguments["env"], "staging");
        await work(context, ["Building 4f2c9e1", "Running 214 checks"]);
        context.task.progress("Waiting for approval");
        const answer = await context.ask("approval", deployApproval(env));
        const content = contentOf(answer);
        if (content === undefined) return say(`Nothing was deployed: ${outcomeOf(answer)}.`);
        await work(context, ["Shifting 10 % of the traffic", "Shifting all of the traffic"]);
        const strategy = textOf(content["strategy"], "gradual");
        return say(`Release 4f2c9e1 is live on ${env} (${strategy}). Error rate 0.02 %, no alerts.`);
      },
    },
    {
      name: "research",
      title: "Research",
      description: "Reads sources for a while and reports.",
      inputSchema: object({ topic: string, stepMs: number }),
      async run(context) {
        const topic = textOf(context.arguments["topic"], "trains");
        await work(context, [
          `Searching for “${topic}”`,
          "Reading 12 sources",
          "Reading 9 more sources",
          "Comparing what they say",
        ]);
        context.task.progress("Waiting for a summary of your model");
        const answer = await context.ask("summary", {
          method: "sampling/createMessage",
          params: {
            systemPrompt: "You are a careful analyst. Answer in one sentence.",
            messages: [
              { role: "user", content: { type: "text", text: `Summarise 21 sources about ${topic}.` } },
            ],
            maxTokens: 200,
          },
        });
        const written = answer["content"] as JsonObject | undefined;
        return say(
          `21 sources about ${topic}. In short: ${textOf(written?.["text"], "no summary was given")}`,
        );
      },
    },
    {
      name: "refund",
      title: "Refund",
      description: "Asks how much and why, then pays back.",
      inputSchema: object({ order: string, stepMs: number }),
      async run(context) {
        const order = textOf(context.arguments["order"], "4711");
        await work(context, [`Looking up order ${order}`]);
        context.task.progress("Waiting for the amount");
        const content = contentOf(await context.ask("refund", refundForm(order)));
        if (content === undefined) return say(`Order ${order} was not refunded.`);
        await work(context, ["Paying back"]);
        return say(
          `€${Number(content["amount"]).toFixed(2)} of order ${order} is on its way back to the customer.`,
        );
      },
    },
    {
      name: "link_calendar",
      title: "Link a calendar",
      description: "Sends the person to another page, and waits until they allowed it there.",
      inputSchema: object({ stepMs: number }),
      async run(context) {
        // The same after a restart, and says nothing of the task id.
        const errand = createHash("sha256").update(context.task.taskId).digest("hex").slice(0, 16);
        context.task.progress("Waiting for your consent");
        const answer = await context.ask("consent", {
          method: "elicitation/create",
          params: {
            mode: "url",
            message: "Allow the desk to read your calendar. The page opens in a new window.",
            url: signIn.urlFor(errand),
            elicitationId: errand,
          },
        });
        if (answer["action"] !== "accept") return say("The calendar was not linked.");
        context.task.progress("Waiting for you to press “Allow” there");
        await untilAborted(signIn.allowed(errand), context.signal);
        return say("Your calendar is linked. The next free hour is tomorrow at 10:00.");
      },
    },
    {
      name: "migrate",
      title: "Migrate the database",
      description: "Works for a minute and a half; stops when it is cancelled.",
      inputSchema: object({ stepMs: number }),
      async run(context) {
        const batches = 60;
        for (let batch = 1; batch <= batches; batch += 1)
          await work(context, [`Batch ${batch} of ${batches}`]);
        return say("All 60 batches are migrated.");
      },
    },
    {
      name: "ask",
      title: "Ask",
      description: "Puts the questions that it is given, and answers with their answers.",
      inputSchema: object({ requests: { type: "object" }, ttlMs: number }),
      taskSupport: "required",
      call: ({ arguments: args }) => ({
        kind: "task",
        ...(typeof args["ttlMs"] === "number" ? { ttlMs: args["ttlMs"] } : {}),
        steps: [{ kind: "ask", requests: args["requests"] as unknown as Record<string, TestInputRequest> }],
      }),
      finish: (_args, answers) => ({
        result: {
          ...say(`All ${Object.keys(answers).length} answers arrived.`),
          structuredContent: { answers },
        },
      }),
    },
    {
      name: "everything",
      title: "Ask for everything",
      description: "Every kind of question and every kind of field, side by side.",
      taskSupport: "required",
      call: () => ({
        kind: "task",
        steps: [{ kind: "ask", requests: EVERYTHING, message: "Waiting for answers" }],
      }),
      finish: (_args, answers) => ({ result: say(`Thank you: ${Object.keys(answers).length} answers.`) }),
    },
  ];
}

function deployApproval(env: string): TestInputRequest {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: `Release 4f2c9e1 passed 214 checks. Deploy it to ${env}?`,
      requestedSchema: {
        type: "object",
        properties: {
          strategy: {
            type: "string",
            title: "How",
            oneOf: [
              { const: "gradual", title: "Gradually, over ten minutes" },
              { const: "at once", title: "Everything at once" },
            ],
            default: "gradual",
          },
          note: { type: "string", title: "Note for the log", maxLength: 200 },
        },
        required: ["strategy"],
      },
    },
  };
}

function refundForm(order: string): TestInputRequest {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: `Order ${order}: paid €59.90 on Monday. How much is to be refunded?`,
      requestedSchema: {
        type: "object",
        properties: {
          amount: { type: "number", title: "Amount in €", minimum: 0.01, maximum: 59.9, default: 59.9 },
          reason: {
            type: "string",
            title: "Reason",
            enum: ["damaged", "late", "changed"],
            enumNames: ["Arrived damaged", "Arrived late", "Changed their mind"],
          },
          email: { type: "string", title: "Confirmation to", format: "email" },
          restock: { type: "boolean", title: "Put it back in stock", default: true },
        },
        required: ["amount", "reason"],
      },
    },
  };
}

/** Shows one message after the other. */
async function work(
  { arguments: args, task, sleep }: RunContext,
  messages: readonly string[],
): Promise<void> {
  const stepMs = typeof args["stepMs"] === "number" ? args["stepMs"] : 1500;
  for (const message of messages) {
    task.progress(message);
    await sleep(stepMs);
  }
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  await Promise.race([promise, aborted]);
}

function contentOf(answer: JsonObject): JsonObject | undefined {
  return answer["action"] === "accept" ? (answer["content"] as JsonObject) : undefined;
}

function outcomeOf(answer: JsonObject): string {
  return answer["action"] === "decline" ? "it was declined" : "the question was dismissed";
}

function textOf(value: unknown, fallback: string): string {
  return typeof value === "string" && value !== "" ? value : fallback;
}

function say(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}
