/** Owns the list of everything that waits for a person. Each entry leads to its question in the conversation. */
import { useApprovals, useConnection, visibleText, type Approval } from "mcp-taskrail/react";
import type { JSX } from "react";

const MAX_TEXT = 140;

export function Inbox({
  onChoose,
}: {
  readonly onChoose: (id: string, key: string) => void;
}): JSX.Element | null {
  const approvals = useApprovals();
  const { loaded, connection } = useConnection();
  if (connection === "refused") return null;
  if (approvals.length === 0) {
    return (
      <p className="inbox-empty">{loaded ? "Nothing waits for you." : "Looking for what waits for you…"}</p>
    );
  }
  return (
    <ol className="inbox">
      {approvals.map(({ task, input }) => (
        <li key={`${task.id} ${input.key}`}>
          <button type="button" onClick={() => onChoose(task.id, input.key)}>
            <span className="inbox-kind" data-kind={input.kind} aria-hidden="true" />
            <span className="inbox-text">
              <bdi>{textOf(input)}</bdi>
            </span>
            <span className="inbox-from">
              {task.tool} · <bdi>{shown(input.serverName)}</bdi>
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

function textOf(input: Approval["input"]): string {
  switch (input.kind) {
    case "elicitation-form":
    case "elicitation-url":
      return shown(input.message);
    case "sampling":
      return "Wants an answer of your model";
    case "roots":
      return "Wants to know your folders";
  }
}

/** A server's text: its beginning, with what is invisible made visible. */
function shown(text: string): string {
  return visibleText(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
}
