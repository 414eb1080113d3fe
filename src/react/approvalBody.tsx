/** Owns which body a question gets by its kind, and what they share: the time left and what went wrong. */
import type { ReactElement } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import { ApprovalForm } from "./approvalForm.js";
import { ApprovalReview } from "./approvalReview.js";
import { ApprovalUrl } from "./approvalUrl.js";
import type { ReviewHandlers } from "./context.js";
import type { Answering } from "./useAnswering.js";

export interface ApprovalBodyProps extends ReviewHandlers {
  readonly approval: Approval;
  readonly answering: Answering;
}

export function ApprovalBody(props: ApprovalBodyProps): ReactElement {
  const { approval, answering, onSample, onRoots } = props;
  const { input } = approval;
  switch (input.kind) {
    case "elicitation-form":
      return <ApprovalForm approval={approval} input={input} answering={answering} />;
    case "elicitation-url":
      return <ApprovalUrl approval={approval} input={input} answering={answering} />;
    case "sampling":
    case "roots":
      return (
        <ApprovalReview
          approval={approval}
          input={input}
          answering={answering}
          onSample={onSample}
          onRoots={onRoots}
        />
      );
  }
}
