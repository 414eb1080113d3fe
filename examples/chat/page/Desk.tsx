/** Owns the frame of the page: head, conversation, inbox beside it or in a drawer. */
import type { TasksStore } from "mcp-taskrail/approvals";
import { useApprovals, useConnection, useLabels, useTasks } from "mcp-taskrail/react";
import { useCallback, useEffect, useRef, type JSX } from "react";
import { Composer } from "./Composer.js";
import { Conversation } from "./Conversation.js";
import { Inbox } from "./Inbox.js";
import { Mark } from "./SignIn.js";
import { PersonMenu } from "./PersonMenu.js";
import { reveal } from "./anchors.js";
import { useConversation } from "./useConversation.js";
import { useWide } from "./useWide.js";

export function Desk({
  actor,
  store,
  onLeave,
}: {
  readonly actor: string;
  readonly store: TasksStore;
  readonly onLeave: () => void;
}): JSX.Element {
  const labels = useLabels();
  const { connection } = useConnection();
  const open = useApprovals().length;
  const conversation = useConversation(useTasks(), connection === "live");
  const wide = useWide();
  const drawer = useRef<HTMLDialogElement>(null);
  const isLost = connection === "reconnecting" || connection === "refused";

  useEffect(() => {
    document.title = open === 0 ? "Desk" : `(${open}) Desk`;
  }, [open]);

  const goTo = useCallback((id: string, key: string) => {
    drawer.current?.close();
    reveal(id, key);
  }, []);

  return (
    <div className="desk">
      <header className="head">
        <Mark />
        <h1>Desk</h1>
        <span className="presence" data-live={connection === "live"}>
          {connection === "live" ? "Live" : connection === "refused" ? "Signed out" : "Connecting…"}
        </span>
        {!wide && (
          <button type="button" className="inbox-button" onClick={() => drawer.current?.showModal()}>
            Inbox
            {open > 0 && <span className="count">{open}</span>}
          </button>
        )}
        <PersonMenu actor={actor} onLeave={onLeave} />
      </header>
      <div className="banner" role="status">
        {isLost && (
          <p>
            {connection === "refused" ? labels.signedOut : "The connection was lost. Reconnecting…"}
            {connection === "refused" ? (
              <button type="button" onClick={onLeave}>
                Sign in
              </button>
            ) : (
              <button type="button" onClick={() => store.refresh()}>
                Try now
              </button>
            )}
          </p>
        )}
      </div>
      <main className="talk">
        <Conversation actor={actor} view={conversation} />
        <Composer onSend={conversation.send} />
      </main>
      {wide ? (
        <aside className="side" aria-label="Inbox">
          <h2>Inbox{open > 0 && <span className="count">{open}</span>}</h2>
          <Inbox onChoose={goTo} />
        </aside>
      ) : (
        <dialog
          ref={drawer}
          className="drawer"
          aria-label="Inbox"
          // A press beside the drawer is a press on the dialog itself.
          onClick={(event) => (event.target === event.currentTarget ? drawer.current?.close() : undefined)}
        >
          <div className="drawer-body">
            <h2>
              Inbox{open > 0 && <span className="count">{open}</span>}
              <button
                type="button"
                className="close"
                onClick={() => drawer.current?.close()}
                aria-label="Close"
              >
                <svg viewBox="0 0 20 20" aria-hidden="true">
                  <path d="M5 5l10 10M15 5L5 15" />
                </svg>
              </button>
            </h2>
            <Inbox onChoose={goTo} />
          </div>
        </dialog>
      )}
    </div>
  );
}
