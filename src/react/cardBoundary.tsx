/** Owns that a card which cannot be drawn says so and leaves the rest of the page alive. A class, since React has no other way to it. */
import { Component, type ReactElement, type ReactNode } from "react";
import { useLabels } from "./context.js";

interface BoundaryProps {
  /** What the card draws: once that is another object, drawing it is tried again. */
  readonly of: unknown;
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly failed: boolean;
  readonly of: unknown;
}

class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: false, of: this.props.of };

  static getDerivedStateFromError(): Partial<BoundaryState> {
    return { failed: true };
  }

  static getDerivedStateFromProps({ of }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return of === state.of ? null : { failed: false, of };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}

export function CardBoundary({ of, children }: Omit<BoundaryProps, "fallback">): ReactElement {
  const labels = useLabels();
  const fallback = (
    <article className="taskrail-card">
      <p className="taskrail-note" role="alert">
        {labels.cannotBeDrawn}
      </p>
    </article>
  );
  return (
    <Boundary of={of} fallback={fallback}>
      {children}
    </Boundary>
  );
}
