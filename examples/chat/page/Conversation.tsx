/** Owns the list of messages, with the tasks at the message that started them. */
import { useEffect, useRef, type JSX } from "react";
import type { ChatMessage } from "../messages.js";
import { LongText } from "./LongText.js";
import { MessageTasks } from "./MessageTasks.js";
import { Avatar, Mark } from "./SignIn.js";
import type { ConversationView } from "./useConversation.js";

const IDEAS = [
  "deploy to prod",
  "research trains",
  "refund order 4711",
  "link my calendar",
  "ask me for everything",
];
/** Who scrolled up further than this reads, and is left in peace. */
const NEAR_PX = 160;

export function Conversation({
  actor,
  view,
}: {
  readonly actor: string;
  readonly view: ConversationView;
}): JSX.Element {
  const { messages, outgoing, send, resend } = view;
  const list = useRef<HTMLDivElement>(null);
  const known = new Set(messages?.map(({ id }) => id));
  const unsent = outgoing.filter(({ id }) => !known.has(id));
  const isEmpty = messages?.length === 0 && unsent.length === 0;
  useStickToEnd(list);

  return (
    <div className="messages" ref={list} tabIndex={0} role="region" aria-label="Conversation">
      <h2 className="hidden">Conversation</h2>
      <div className="messages-inner">
        {isEmpty && (
          <div className="empty">
            <Mark />
            <h2>What is to be done, {actor}?</h2>
            <p>Things that take long go on by themselves. When they need you, they ask here.</p>
            <ul>
              {IDEAS.map((idea) => (
                <li key={idea}>
                  <button type="button" onClick={() => send(idea)}>
                    {idea}
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )}
        {messages?.map((message) => (
          <Message key={message.id} message={message} mine={message.by === actor} />
        ))}
        {unsent.map((message) => (
          <div key={message.id} className="message" data-from="person" data-mine="true">
            <p className="bubble">{message.text}</p>
            {message.state === "sending" ? (
              <p className="note">Sending…</p>
            ) : (
              <p className="note note-bad" role="alert">
                Not sent.{" "}
                <button type="button" onClick={() => resend({ id: message.id, text: message.text })}>
                  Try again
                </button>
              </p>
            )}
          </div>
        ))}
      </div>
      <p className="hidden" aria-live="polite">
        {messages?.findLast(({ from }) => from === "assistant")?.text}
      </p>
    </div>
  );
}

function Message({ message, mine }: { readonly message: ChatMessage; readonly mine: boolean }): JSX.Element {
  const { id, from, by, text, at, failed } = message;
  return (
    <>
      <article className="message" data-from={from} data-mine={mine} data-failed={failed === true}>
        {!mine && (from === "assistant" ? <Mark /> : <Avatar name={by ?? "?"} />)}
        <div className="words">
          <p className="note">
            <span className={mine ? "hidden" : undefined}>{from === "assistant" ? "Desk" : by}</span>{" "}
            <time dateTime={at}>{clockTime(at)}</time>
          </p>
          <p className="bubble">
            <LongText text={text} />
          </p>
        </div>
      </article>
      {from === "assistant" && id.endsWith(".reply") && (
        <MessageTasks message={id.slice(0, -".reply".length)} />
      )}
    </>
  );
}

/** Keeps the newest in view while somebody is at the end already. */
function useStickToEnd(list: { readonly current: HTMLDivElement | null }): void {
  useEffect(() => {
    const element = list.current;
    const inner = element?.querySelector(".messages-inner") ?? null;
    if (element === null || inner === null) return undefined;
    let atEnd = true;
    const onScroll = (): void => {
      atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    };
    const observer = new ResizeObserver(() => {
      if (atEnd) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener("scroll", onScroll, { passive: true });
    observer.observe(inner);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, [list]);
}

function clockTime(at: string): string {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
