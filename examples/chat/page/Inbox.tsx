/** Owns the list of everything that waits for a person. Each entry leads to its question in the conversation. */
import { useApprovals, type Approval } from "mcp-taskrail/react";
import type { JSX } from "react";

const MAX_TEXT = 140;

export function Inbox({
  loaded,
  onChoose,
}: {
  readonly loaded: boolean;
  readonly onChoose: (id: string, key: string) => void;
}): JSX.Element {
  const approvals = useApprovals();
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
            <span className="inbox-text">{textOf(input)}</span>
            <span className="inbox-from">
              {task.tool} · {input.serverName}
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
      return cut(input.message);
    case "sampling":
      return "Wants an answer of your model";
    case "roots":
      return "Wants to know your folders";
  }
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
