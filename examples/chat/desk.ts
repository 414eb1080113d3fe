/** Owns what a message sets off: the assistant's reply, its tool calls, and the answer when one ends. It knows no HTTP. */
import { ClientClosedError, TasksError, WaitTimeoutError, type Settled, type TaskClient } from "mcp-taskrail";
import type { JsonObject } from "mcp-taskrail";
import { planFor, tellEnd } from "./assistant.js";
import type { Conversation } from "./conversation.js";
import type { ChatBody, ChatMessage } from "./messages.js";
import { CONVERSATION } from "./names.js";

/** The host's name of the task server. */
export const SERVER = "workshop";

export interface Desk {
  /** Takes a person's message; resolves once it and the reply are on disk. The same id twice is taken once. */
  post(message: ChatBody, by: string): Promise<void>;
  /** Starts the calls of earlier messages that have no end yet: a host may have died before it made them. */
  resume(): void;
  /** For `onSettled`: resolves once the end is in the conversation. */
  settled(settled: Settled): Promise<void>;
}

export function openDesk(tasks: () => TaskClient, conversation: Conversation): Desk {
  function start({ id, text }: ChatBody): void {
    for (const [i, call] of planFor(text).calls.entries()) {
      const callId = `${id}.${i}`;
      if (conversation.messages.some(({ endOf }) => endOf === callId)) continue;
      // Nobody waits for it here: the task shows itself, and its end comes through `settled`.
      void run(callId, id, call);
    }
  }

  async function run(
    callId: string,
    message: string,
    call: { readonly name: string; readonly arguments: JsonObject },
  ): Promise<void> {
    try {
      // A `callId` that the store knows is not sent again, whoever asks for it.
      const context = { conversation: CONVERSATION, message };
      const answer = await tasks().callTool(SERVER, call, { callId, context });
      if (answer.kind === "result") {
        await tell(callId, tellEnd({ status: "completed", result: answer.result as unknown as JsonObject }));
      }
    } catch (error) {
      // The call goes on, or the next life of this host takes it up.
      if (error instanceof WaitTimeoutError || error instanceof ClientClosedError) return;
      const text = error instanceof TasksError ? error.message : "The host made a mistake";
      await tell(callId, { text: `That did not work: ${text}`, failed: true });
    }
  }

  async function tell(callId: string, end: { text: string; failed: boolean }): Promise<void> {
    await conversation.append({
      id: `${callId}.end`,
      from: "assistant",
      text: end.text,
      at: new Date().toISOString(),
      endOf: callId,
      ...(end.failed ? { failed: true } : {}),
    });
  }

  return {
    async post(message, by) {
      const at = new Date().toISOString();
      const said: ChatMessage = { id: message.id, from: "person", by, text: message.text, at };
      const reply: ChatMessage = {
        id: `${message.id}.reply`,
        from: "assistant",
        text: planFor(message.text).reply,
        at,
      };
      const fresh = await conversation.append(said, reply);
      if (fresh.includes(said)) start(message);
    },
    resume() {
      for (const message of conversation.messages) if (message.from === "person") start(message);
    },
    settled: (settled) => tell(settled.id, tellEnd(endOf(settled))),
  };
}

function endOf(settled: Settled): Parameters<typeof tellEnd>[0] {
  switch (settled.status) {
    case "completed":
      return { status: "completed", result: settled.result };
    case "failed":
      return { status: "failed", error: settled.error };
    case "lost":
      return { status: "lost", reason: settled.reason };
    case "cancelled":
      return { status: "cancelled" };
  }
}
