/** Owns the buttons that answer an elicitation. While something is sent they do nothing, but keep the focus. */
import type { ReactElement } from "react";
import { useLabels } from "./context.js";
import type { Answering } from "./useAnswering.js";

export interface AnswerButtonsProps {
  readonly answering: Answering;
  /** The text of the button that accepts; absent: accepting is not offered. */
  readonly accept?: string | undefined;
  /** What accepting does; absent: the button submits its form. */
  readonly onAccept?: (() => void) | undefined;
}

export function AnswerButtons({ answering, accept, onAccept }: AnswerButtonsProps): ReactElement {
  const labels = useLabels();
  const { busy, send } = answering;
  return (
    <>
      {accept === undefined ? null : (
        <button
          type={onAccept === undefined ? "submit" : "button"}
          className="taskrail-button taskrail-button-primary"
          aria-disabled={busy}
          onClick={busy ? (event) => event.preventDefault() : onAccept}
        >
          {accept}
        </button>
      )}
      {/* Neither sends what was put in: only an acceptance has content. */}
      <button
        type="button"
        className="taskrail-button"
        aria-disabled={busy}
        onClick={() => send({ action: "decline" }, "decline")}
      >
        {labels.decline}
      </button>
      <button
        type="button"
        className="taskrail-button taskrail-button-quiet"
        aria-disabled={busy}
        onClick={() => send({ action: "cancel" }, "cancel")}
      >
        {labels.dismiss}
      </button>
    </>
  );
}
