/** Owns a list of questions in which a card that has closed stays for a while, so that nobody misses what became of it. */
import type { ReactElement } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import { ApprovalCard } from "./approvalCard.js";
import type { ReviewHandlers } from "./context.js";
import { useLingering } from "./useLingering.js";

/** What `ApprovalList` takes. */
export interface ApprovalListProps extends ReviewHandlers {
  /** As `useApprovals` answers them. */
  readonly approvals: readonly Approval[];
  /** How long a closed card stays, in ms; longer while the pointer or the focus is on it. Default 8000. */
  readonly keepClosedMs?: number | undefined;
  readonly headingLevel?: 2 | 3 | 4 | 5 | 6 | undefined;
}

/** A card for each question. Cards far out of sight cost next to nothing, so hundreds scroll smoothly. */
export function ApprovalList(props: ApprovalListProps): ReactElement | null {
  const { approvals, keepClosedMs = 8000, headingLevel, onSample, onRoots } = props;
  const { shown, list } = useLingering(approvals, keepClosedMs);
  if (shown.length === 0) return null;
  return (
    <ul className="taskrail-approvals" ref={list}>
      {shown.map(({ name, approval }) => (
        <li key={name} data-name={name}>
          <ApprovalCard
            approval={approval}
            headingLevel={headingLevel}
            onSample={onSample}
            onRoots={onRoots}
          />
        </li>
      ))}
    </ul>
  );
}
