/** Owns the variant that asks to open a page: the whole address, its host stressed, nothing opened or fetched before the click. */
import { useState, type ReactElement } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import type { InputView } from "../approvals/wire.js";
import { AnswerButtons } from "./answerButtons.js";
import { ApprovalFoot } from "./approvalFoot.js";
import { useLabels } from "./context.js";
import { CopyButton } from "./copyButton.js";
import { openPage } from "./openPage.js";
import { ServerText } from "./serverText.js";
import { UrlText } from "./urlText.js";
import { urlFacts } from "./urlFacts.js";
import type { Answering } from "./useAnswering.js";
import { visibleText } from "./visibleText.js";

export interface ApprovalUrlProps {
  readonly approval: Approval;
  readonly input: Extract<InputView, { readonly kind: "elicitation-url" }>;
  readonly answering: Answering;
}

export function ApprovalUrl({ approval, input, answering }: ApprovalUrlProps): ReactElement {
  const labels = useLabels();
  const [blocked, setBlocked] = useState(false);
  const facts = urlFacts(input.url);
  const refused = facts.refused !== undefined;

  const accept = (): void => {
    if (answering.busy || refused) return;
    const isOpen = openPage(facts.href);
    setBlocked(!isOpen);
    if (isOpen) answering.send({ action: "accept" }, "accept");
  };

  return (
    <div className="taskrail-form">
      <ServerText text={input.message} />
      {refused ? (
        <>
          <ServerText text={facts.text} code />
          <p className="taskrail-note taskrail-note-warning">{labels.pageRefused(facts.refused)}</p>
        </>
      ) : (
        <>
          <p className="taskrail-host-line">
            {labels.pageHost} <strong className="taskrail-host">{facts.host}</strong>
            {facts.looksLike === undefined ? null : (
              <>
                {" "}
                ({labels.looksLike} <bdi>{visibleText(facts.looksLike)}</bdi>)
              </>
            )}
          </p>
          {facts.warnings.length === 0 ? null : (
            <ul className="taskrail-note taskrail-note-warning">
              {facts.warnings.map((warning) => (
                <li key={warning} data-warning={warning}>
                  {labels.pageWarning(warning)}
                </li>
              ))}
            </ul>
          )}
          <UrlText facts={facts} />
          <CopyButton text={facts.href} />
        </>
      )}
      <ApprovalFoot
        approval={approval}
        answering={answering}
        problem={blocked ? labels.pageBlocked : undefined}
      >
        <AnswerButtons
          answering={answering}
          accept={refused ? undefined : labels.openPage}
          onAccept={accept}
        />
      </ApprovalFoot>
    </div>
  );
}
