/** Owns the inbox: every open question of a person, how many there are, and whether what is shown may be old. */
import { useId, type ReactElement } from "react";
import type { TaskViewFilter } from "../approvals/storeTypes.js";
import { ApprovalList } from "./approvalList.js";
import { useLabels, type ReviewHandlers } from "./context.js";
import { useApprovals, useConnection } from "./hooks.js";

/** What `ApprovalInbox` takes. */
export interface ApprovalInboxProps extends ReviewHandlers {
  /** Which calls' questions; all by default. */
  readonly filter?: TaskViewFilter | undefined;
  /** The level of the inbox' heading; its cards have the next. Default 2. */
  readonly headingLevel?: 2 | 3 | 4 | 5 | undefined;
  readonly keepClosedMs?: number | undefined;
  readonly className?: string | undefined;
}

const NEXT = { 2: 3, 3: 4, 4: 5, 5: 6 } as const;

/** All open questions, the oldest first. The count is announced when it changes. */
export function ApprovalInbox(props: ApprovalInboxProps): ReactElement {
  const { filter, headingLevel = 2, keepClosedMs, className, onSample, onRoots } = props;
  const labels = useLabels();
  const titleId = useId();
  const approvals = useApprovals(filter);
  const { loaded, truncated, connection } = useConnection();
  const Heading = `h${headingLevel}` as const;
  const refused = connection === "refused";
  const stale = connection === "reconnecting" || connection === "closed";
  return (
    <section className={["taskrail-inbox", className].filter(Boolean).join(" ")} aria-labelledby={titleId}>
      <header className="taskrail-inbox-head">
        <Heading className="taskrail-title" id={titleId}>
          {labels.inboxHeading}
        </Heading>
        <p className="taskrail-count" role="status">
          {refused
            ? null
            : !loaded
              ? labels.loading
              : approvals.length === 0
                ? labels.inboxEmpty
                : labels.inboxCount(approvals.length)}
        </p>
      </header>
      <div role="status">
        {refused || stale ? (
          <p className="taskrail-note">{refused ? labels.signedOut : labels.notLive}</p>
        ) : null}
      </div>
      <ApprovalList
        approvals={approvals}
        keepClosedMs={keepClosedMs}
        headingLevel={NEXT[headingLevel]}
        onSample={onSample}
        onRoots={onRoots}
      />
      {truncated ? <p className="taskrail-help">{labels.inboxTruncated}</p> : null}
    </section>
  );
}
