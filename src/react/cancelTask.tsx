/** Owns the wish to cancel a task: asked once, confirmed as asked, never told as done before the server says so. */
import { useRef, useState, type ReactElement } from "react";
import type { CancelOutcome } from "../approvals/storeTypes.js";
import type { TaskView } from "../approvals/wire.js";
import { useTasksContext } from "./context.js";

export function CancelTask({ task }: { readonly task: TaskView }): ReactElement {
  const { store, labels } = useTasksContext();
  const [state, setState] = useState<"idle" | "sending" | CancelOutcome["kind"]>("idle");
  const line = useRef<HTMLParagraphElement>(null);
  const asked = task.cancelRequested || state === "asked";

  const cancel = (): void => {
    if (state === "sending") return;
    setState("sending");
    store.cancel(task.id).then(
      ({ kind }) => {
        // The button goes: whoever pressed it lands on the line that says so.
        if (kind === "asked" || kind === "over") line.current?.focus();
        setState(kind);
      },
      () => setState("failed"),
    );
  };
  const said = asked ? labels.cancelAsked : saidOf(state, labels);
  return (
    <div className="taskrail-cancel">
      <p ref={line} className="taskrail-status-line" role="status" tabIndex={-1}>
        {said}
      </p>
      {asked || state === "over" ? null : (
        <button
          type="button"
          className="taskrail-button taskrail-button-quiet"
          aria-disabled={state === "sending"}
          onClick={cancel}
        >
          {labels.cancel}
        </button>
      )}
    </div>
  );
}

function saidOf(
  state: "idle" | "sending" | CancelOutcome["kind"],
  labels: ReturnType<typeof useTasksContext>["labels"],
): string {
  switch (state) {
    case "sending":
      return labels.cancelSending;
    case "refused":
      return labels.refused;
    case "failed":
      return labels.cancelFailed;
    case "over":
      return labels.cancelOver;
    case "idle":
    case "asked":
      return "";
  }
}
