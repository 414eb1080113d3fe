/** Owns a list of questions in which a card that has closed stays for a while, so that nobody misses what became of it. */
import type { ReactElement } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import { ApprovalCard } from "./approvalCard.js";
import type { ReviewHandlers } from "./context.js";
import { useLingering, type Lingering } from "./useLingering.js";

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
  const { approvals, keepClosedMs, ...rest } = props;
  return <ApprovalItems lingering={useLingering(approvals, keepClosedMs)} {...rest} />;
}

export type ApprovalItemsProps = Pick<ApprovalListProps, "headingLevel" | "onSample" | "onRoots"> & {
  readonly lingering: Lingering;
};

/** The list of those that are shown, for who must know which these are. */
export function ApprovalItems(props: ApprovalItemsProps): ReactElement | null {
  const { headingLevel, onSample, onRoots } = props;
  const { shown, list } = props.lingering;
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
