/** Owns the page's copy of the conversation: what the host has, and what is on its way to it. */
import type { TaskView } from "mcp-taskrail/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { ChatBody, ChatMessage } from "../messages.js";
import { getConversation, postMessage } from "./api.js";

/** A message that the host has not confirmed. */
export interface Outgoing extends ChatBody {
  readonly state: "sending" | "failed";
}

export interface ConversationView {
  /** Undefined until it was read once. */
  readonly messages: readonly ChatMessage[] | undefined;
  readonly outgoing: readonly Outgoing[];
  readonly send: (text: string) => void;
  /** The same message again: harmless where the host had it after all. */
  readonly resend: (message: ChatBody) => void;
}

const IDLE_MS = 10_000;
const BEHIND_MS = 400;

/** The tasks tell when there must be news: a call that no message explains, or an end that was not told. */
export function useConversation(tasks: readonly TaskView[], live: boolean): ConversationView {
  const [messages, setMessages] = useState<readonly ChatMessage[]>();
  const [outgoing, setOutgoing] = useState<readonly Outgoing[]>([]);

  const take = useCallback(async (answer: Promise<{ messages: readonly ChatMessage[] }>) => {
    const body = await answer;
    // Messages are only ever added: the longer list is the newer one.
    setMessages((had) => (had !== undefined && had.length > body.messages.length ? had : body.messages));
  }, []);

  const refresh = useCallback(() => {
    // What fails now is asked again by the timer below, and when the host is back.
    take(getConversation()).catch(() => undefined);
  }, [take]);

  const post = useCallback(
    (message: ChatBody) => {
      const others = (list: readonly Outgoing[]): Outgoing[] => list.filter(({ id }) => id !== message.id);
      setOutgoing((list) => [...others(list), { ...message, state: "sending" }]);
      take(postMessage(message)).then(
        () => setOutgoing(others),
        () => setOutgoing((list) => [...others(list), { ...message, state: "failed" }]),
      );
    },
    [take],
  );

  const behind = useMemo(() => isBehind(messages, tasks), [messages, tasks]);
  useEffect(() => {
    if (live) refresh();
  }, [live, refresh]);
  useEffect(() => {
    if (behind) refresh();
    const timer = setInterval(() => (document.hidden ? undefined : refresh()), behind ? BEHIND_MS : IDLE_MS);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, [behind, refresh]);

  const send = useCallback((text: string) => post({ id: crypto.randomUUID(), text }), [post]);
  return { messages, outgoing, send, resend: post };
}

function isBehind(messages: readonly ChatMessage[] | undefined, tasks: readonly TaskView[]): boolean {
  const ids = new Set(messages?.map(({ id }) => id));
  const ends = new Set(messages?.map(({ endOf }) => endOf));
  return tasks.some((task) => {
    const message = messageOf(task);
    return message !== undefined && (!ids.has(message) || (task.outcome !== undefined && !ends.has(task.id)));
  });
}

/** The message that started the call, where it belongs to a conversation. */
export function messageOf(task: TaskView): string | undefined {
  const context = task.context as { message?: unknown } | null | undefined;
  return typeof context?.message === "string" ? context.message : undefined;
}
