/** Owns the frame of one question: who asks, Escape, where the focus goes when it closes. What is asked is drawn by its kind. */
import { useId, useRef, type KeyboardEvent, type ReactElement } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import { ApprovalBody } from "./approvalBody.js";
import { ApprovalStatus } from "./approvalStatus.js";
import type { InputView } from "../approvals/wire.js";
import { useLabels, type ReviewHandlers } from "./context.js";
import { questionKind } from "./questionKind.js";
import { ServerName } from "./serverText.js";
import { TimeOfDay } from "./timeText.js";
import { useAnswering } from "./useAnswering.js";
import { useClosing } from "./useClosing.js";

/** What `ApprovalCard` takes. */
export interface ApprovalCardProps extends ReviewHandlers {
  readonly approval: Approval;
  /** The level of the card's heading, 2 to 6. Default 3. */
  readonly headingLevel?: 2 | 3 | 4 | 5 | 6 | undefined;
  readonly className?: string | undefined;
}

export function QuestionCard(props: ApprovalCardProps): ReactElement {
  const { approval, headingLevel = 3, className, onSample, onRoots } = props;
  const { task, input } = approval;
  const labels = useLabels();
  const titleId = useId();
  const root = useRef<HTMLElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const answering = useAnswering(approval);
  const collapsed = useClosing(answering.closed, root, status);
  const Heading = `h${headingLevel}` as const;
  const kind = questionKind(input);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isDismissal(event) || answering.busy || answering.closed) return;
    // Only elicitations can be dismissed: nothing on the wire says so for the other kinds.
    if (input.kind !== "elicitation-form" && input.kind !== "elicitation-url") return;
    event.preventDefault();
    event.stopPropagation();
    answering.send({ action: "cancel" }, "cancel");
  };

  return (
    <article
      ref={root}
      className={["taskrail-card taskrail-approval", className].filter(Boolean).join(" ")}
      data-kind={kind}
      data-question={`${task.id} ${input.key}`}
      data-state={answering.state.kind}
      aria-labelledby={titleId}
      aria-busy={answering.busy}
      onKeyDown={onKeyDown}
    >
      <header className="taskrail-card-head">
        <Heading className="taskrail-title" id={titleId}>
          <ServerName text={input.serverName} className="taskrail-server" />
          <span className="taskrail-kicker">{labels.question(kind)}</span>
        </Heading>
        <p className="taskrail-meta">
          <span>
            {labels.tool} <ServerName text={task.tool} className="taskrail-code" />
          </span>
          {task.server === input.serverName ? null : (
            <span>
              {labels.server} <ServerName text={task.server} className="taskrail-code" />
            </span>
          )}
          <span>
            {labels.asked} <TimeOfDay at={input.askedAt} />
          </span>
        </p>
      </header>
      {input.refused === true && !collapsed ? (
        <p className="taskrail-note taskrail-note-warning">{labels.refusedBefore}</p>
      ) : null}
      {collapsed ? (
        <WhatWasAsked input={input} />
      ) : (
        <ApprovalBody approval={approval} answering={answering} onSample={onSample} onRoots={onRoots} />
      )}
      <ApprovalStatus state={answering.state} statusRef={status} />
    </article>
  );
}

/** So that a closed card still tells which of several questions it was. */
function WhatWasAsked({ input }: { readonly input: InputView }): ReactElement | null {
  if (!("message" in input) || input.message === "") return null;
  return (
    <p className="taskrail-asked">
      <ServerName text={input.message} />
    </p>
  );
}

/** Escape that nobody else wanted: not one that ends a composition, or closes the list of a select or a picker. */
function isDismissal(event: KeyboardEvent): boolean {
  if (event.key !== "Escape" || event.defaultPrevented || event.nativeEvent.isComposing) return false;
  const { target } = event;
  return !(
    target instanceof Element && target.matches("select, input[type='date'], input[type='datetime-local']")
  );
}
