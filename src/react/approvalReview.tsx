/** Owns the variants that the host's own code answers (sampling, roots): the person lets it run, sees what comes back, and sends that. */
import type { ReactElement } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import type { InputView } from "../approvals/wire.js";
import { ApprovalFoot } from "./approvalFoot.js";
import { useTasksContext, type ReviewHandlers } from "./context.js";
import { ReviewButtons } from "./reviewButtons.js";
import { RootsResult } from "./rootsResult.js";
import { SamplingMessage, SamplingRequest } from "./samplingRequest.js";
import type { Answering } from "./useAnswering.js";
import { useHostRun } from "./useHostRun.js";

export interface ApprovalReviewProps extends ReviewHandlers {
  readonly approval: Approval;
  readonly input: Extract<InputView, { readonly kind: "sampling" | "roots" }>;
  readonly answering: Answering;
}

/** Neither kind can be declined on the wire, which the card says. */
export function ApprovalReview(props: ApprovalReviewProps): ReactElement {
  const { approval, input, answering } = props;
  const context = useTasksContext();
  const { labels } = context;
  const onSample = props.onSample ?? context.onSample;
  const onRoots = props.onRoots ?? context.onRoots;
  const run =
    input.kind === "roots" ? onRoots : onSample && ((signal: AbortSignal) => onSample(input.params, signal));
  const { state, start, stop } = useHostRun(run);
  const sampling = input.kind === "sampling";

  return (
    <div className="taskrail-form">
      {sampling ? <SamplingRequest params={input.params} /> : <p>{labels.rootsIntro}</p>}
      {run === undefined ? (
        <p className="taskrail-note">{sampling ? labels.modelNobody : labels.rootsNobody}</p>
      ) : null}
      <p className="taskrail-help">{labels.cannotDecline}</p>
      {/* There from the start, so that what comes back is announced. */}
      <div aria-live="polite">
        {state.kind === "running" ? <p className="taskrail-note">{labels.modelRunning}</p> : null}
        {state.kind === "done" ? (
          <section className="taskrail-result">
            <p className="taskrail-label">{sampling ? labels.modelResult : labels.rootsResult}</p>
            {sampling ? <SamplingMessage message={state.result} /> : <RootsResult result={state.result} />}
          </section>
        ) : null}
      </div>
      <ApprovalFoot
        approval={approval}
        answering={answering}
        problem={state.kind === "failed" ? labels.modelFailed : undefined}
      >
        {run === undefined ? undefined : (
          <ReviewButtons
            state={state}
            busy={answering.busy}
            run={sampling ? labels.modelRun : labels.rootsRun}
            onStart={start}
            onStop={stop}
            onSend={(result) => answering.send(result, "answered")}
          />
        )}
      </ApprovalFoot>
    </div>
  );
}
