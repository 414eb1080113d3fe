/** Owns the list of who answered what so far. What was answered is not part of it. */
import type { ReactElement } from "react";
import type { AnswerView } from "../approvals/wire.js";
import { Who } from "./approvalStatus.js";
import { useLabels } from "./context.js";
import { ServerText } from "./serverText.js";
import { TimeOfDay } from "./timeText.js";

export function TaskAnswers({ answers }: { readonly answers: readonly AnswerView[] }): ReactElement {
  const labels = useLabels();
  return (
    <section className="taskrail-answers">
      <p className="taskrail-label">{labels.answersHeading}</p>
      <ul className="taskrail-list">
        {answers.map((answer, index) => (
          // They only grow, and rounds of one question share their key.
          <li key={index}>
            {answer.message === undefined ? null : <ServerText text={answer.message} />}
            <p className="taskrail-help">
              <Who state={answer} />: <b>{labels.action(answer.action)}</b>,{" "}
              <TimeOfDay at={answer.answeredAt} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
