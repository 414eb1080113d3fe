/** Owns the public card of one question: each question, and each round of it, gets a card of its own, whatever is reused around it. */
import type { ReactElement } from "react";
import { question } from "../approvals/taskFilter.js";
import { CardBoundary } from "./cardBoundary.js";
import { QuestionCard, type ApprovalCardProps } from "./questionCard.js";

export type { ApprovalCardProps } from "./questionCard.js";

/**
 * One question of a server, with everything that is needed to answer it: accept, decline, dismiss. It stays as a line
 * that says what became of the question once that is closed, for as long as it is rendered. Escape inside it dismisses.
 */
export function ApprovalCard(props: ApprovalCardProps): ReactElement {
  const { task, input } = props.approval;
  return (
    <CardBoundary key={question(task.id, input)} of={props.approval}>
      <QuestionCard {...props} />
    </CardBoundary>
  );
}
