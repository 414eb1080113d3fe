/** Owns the buttons of a question that the host's own code answers: run it, stop it, send what came back. */
import type { ReactElement } from "react";
import type { JsonObject } from "../internal/json.js";
import { useLabels } from "./context.js";
import type { HostRunState } from "./useHostRun.js";

export interface ReviewButtonsProps {
  readonly state: HostRunState;
  readonly busy: boolean;
  /** The text of the button that starts. */
  readonly run: string;
  readonly onStart: () => void;
  readonly onStop: () => void;
  readonly onSend: (result: JsonObject) => void;
}

export function ReviewButtons({
  state,
  busy,
  run,
  onStart,
  onStop,
  onSend,
}: ReviewButtonsProps): ReactElement {
  const labels = useLabels();
  if (state.kind === "done") {
    return (
      <>
        <button
          type="button"
          className="taskrail-button taskrail-button-primary"
          aria-disabled={busy}
          onClick={() => onSend(state.result)}
        >
          {labels.sendResult}
        </button>
        <button
          type="button"
          className="taskrail-button"
          aria-disabled={busy}
          onClick={busy ? undefined : onStart}
        >
          {labels.again}
        </button>
      </>
    );
  }
  // One element for both, so that the focus stays on it.
  const running = state.kind === "running";
  return (
    <button
      type="button"
      className={running ? "taskrail-button" : "taskrail-button taskrail-button-primary"}
      onClick={running ? onStop : onStart}
    >
      {running ? labels.stop : run}
    </button>
  );
}
