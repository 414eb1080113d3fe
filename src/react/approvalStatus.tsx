/** Owns the line that says what became of a question. It is there from the start, so that changes of it are announced. */
import type { ReactElement, RefObject } from "react";
import { useLabels } from "./context.js";
import { ServerName } from "./serverText.js";
import { TimeOfDay } from "./timeText.js";
import type { CardState } from "./useAnswering.js";

export function ApprovalStatus(props: {
  readonly state: CardState;
  readonly statusRef: RefObject<HTMLParagraphElement | null>;
}): ReactElement {
  return (
    <p ref={props.statusRef} className="taskrail-status-line" role="status" tabIndex={-1}>
      <StatusText state={props.state} />
    </p>
  );
}

function StatusText({ state }: { readonly state: CardState }): ReactElement | null {
  const labels = useLabels();
  switch (state.kind) {
    case "sending":
      return <>{labels.sending}</>;
    case "answered":
      return (
        <>
          {labels.youAnswered}: <b>{labels.action(state.action)}</b>, <TimeOfDay at={state.answeredAt} />
        </>
      );
    case "elsewhere":
      return (
        <>
          <Who state={state} />
          {state.action === undefined ? null : (
            <>
              : <b>{labels.action(state.action)}</b>
            </>
          )}
          {state.answeredAt === undefined ? null : (
            <>
              , <TimeOfDay at={state.answeredAt} />
            </>
          )}
        </>
      );
    case "over":
      return <>{labels.over(state.reason)}</>;
    case "editing":
    case "invalid":
    case "refused":
    case "failed":
      return null;
  }
}

/** Who gave an answer: a person with a name, the host's policy, or the host's own code. */
export function Who(props: {
  readonly state: { readonly by?: string | undefined; readonly source?: string | undefined };
}): ReactElement {
  const labels = useLabels();
  const { by, source } = props.state;
  if (by !== undefined) {
    return (
      <>
        {labels.answeredBy} <ServerName text={by} className="taskrail-actor" />
      </>
    );
  }
  if (source === "policy") return <>{labels.answeredByPolicy}</>;
  return <>{source === "handler" ? labels.answeredByHost : labels.answeredElsewhere}</>;
}
