/** Owns what the assistant says and which tools it wants, by rules: no model is needed. Pure. */
import type { JsonObject } from "mcp-taskrail";

/** What a message leads to. */
export interface Plan {
  readonly reply: string;
  readonly calls: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

interface Rule {
  readonly when: RegExp;
  readonly plan: (match: RegExpExecArray) => Plan;
}

const rules: readonly Rule[] = [
  {
    when: /^\/call (\w+)(?: ([^]+))?$/,
    plan: ([, name = "", json]) => {
      const args = parsed(json ?? "{}");
      if (args === undefined) return { reply: "The arguments are no JSON object.", calls: [] };
      return { reply: `Calling ${name}.`, calls: [{ name, arguments: args }] };
    },
  },
  {
    when: /\bdeploy(?:ing)?(?: .*?)?\bto (\w+)|\bdeploy\b/i,
    plan: ([, env = "staging"]) => ({
      reply: `I build the release and check it. Before anything reaches ${env}, I ask you.`,
      calls: [{ name: "deploy", arguments: { env } }],
    }),
  },
  {
    when: /\bresearch (?:on |about )?(.{1,60})/i,
    plan: ([, topic = ""]) => ({
      reply: `I look into ${topic.trim()}. It takes a moment; you can go on meanwhile.`,
      calls: [{ name: "research", arguments: { topic: topic.trim() } }],
    }),
  },
  {
    when: /\brefund\b\D*(\d{1,12})?/i,
    plan: ([, order = "4711"]) => ({
      reply: `I look up order ${order}. The amount is yours to decide.`,
      calls: [{ name: "refund", arguments: { order } }],
    }),
  },
  {
    when: /\bcalendar\b/i,
    plan: () => ({
      reply: "For that the calendar wants your consent, on its own page.",
      calls: [{ name: "link_calendar", arguments: {} }],
    }),
  },
  {
    when: /\bmigrate|\bmigration/i,
    plan: () => ({
      reply: "I start the migration. It takes a minute or two; you can cancel it at any time.",
      calls: [{ name: "migrate", arguments: {} }],
    }),
  },
  {
    when: /\beverything\b/i,
    plan: () => ({
      reply: "Here is one question of every kind.",
      calls: [{ name: "everything", arguments: {} }],
    }),
  },
  {
    when: /\bbusy\b/i,
    plan: () => ({
      reply: "Three things at once, then.",
      calls: [
        { name: "deploy", arguments: { env: "prod" } },
        { name: "refund", arguments: { order: "4711" } },
        { name: "research", arguments: { topic: "night trains" } },
      ],
    }),
  },
];

export function planFor(text: string): Plan {
  for (const { when, plan } of rules) {
    const match = when.exec(text);
    if (match !== null) return plan(match);
  }
  return {
    reply:
      "I can deploy to prod, research a topic, refund an order, link your calendar, migrate the database, or ask you for everything.",
    calls: [],
  };
}

/** How the assistant tells of a call's end. */
export function tellEnd(end: {
  readonly status: string;
  readonly result?: JsonObject;
  readonly error?: { readonly message: string };
  readonly reason?: string;
}): { text: string; failed: boolean } {
  switch (end.status) {
    case "completed":
      return { text: textOf(end.result) ?? "Done.", failed: end.result?.["isError"] === true };
    case "failed":
      return { text: `That failed: ${end.error?.message ?? "no reason was given"}`, failed: true };
    case "cancelled":
      return { text: "That was cancelled.", failed: false };
    default:
      return { text: `Nobody can say how that ended (${end.reason ?? "unknown"}).`, failed: true };
  }
}

/** Stands for the host's model: what it answers to a server's sampling request, a `CreateMessageResult`. */
export function modelAnswer(params: unknown): JsonObject {
  const asked = JSON.stringify(params ?? "");
  const text = asked.includes("sources")
    ? "Night trains are growing again, most of all where sleeping costs less than a hotel."
    : "Have a good trip, and do look out of the window.";
  return { role: "assistant", model: "scripted", content: { type: "text", text } };
}

function textOf(result: JsonObject | undefined): string | undefined {
  const content = result?.["content"];
  const first = (Array.isArray(content) ? content[0] : undefined) as JsonObject | undefined;
  return typeof first?.["text"] === "string" ? first["text"] : undefined;
}

function parsed(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
