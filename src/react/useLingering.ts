/** Owns which cards of a list are still shown although their question is closed: for a while, and while somebody is at them. */
import { useEffect, useRef, useState, type RefObject } from "react";
import type { Approval, TasksStore } from "../approvals/storeTypes.js";
import { question } from "../approvals/taskFilter.js";
import { useTasksContext } from "./context.js";
import { standingOf } from "./standing.js";

export interface Shown {
  readonly name: string;
  readonly approval: Approval;
  readonly open: boolean;
}

/** The questions that are shown, and where the element of their list belongs. */
export interface Lingering {
  readonly shown: readonly Shown[];
  readonly list: RefObject<HTMLUListElement | null>;
}

export function useLingering(approvals: readonly Approval[], keepMs = 8000): Lingering {
  const { store, clock } = useTasksContext();
  const list = useRef<HTMLUListElement | null>(null);
  const [held, setHeld] = useState(() => ({ approvals, shown: merged([], approvals, store) }));
  let { shown } = held;
  if (held.approvals !== approvals) {
    shown = merged(shown, approvals, store);
    setHeld({ approvals, shown });
  }

  const closed = JSON.stringify(shown.filter((one) => !one.open).map((one) => one.name));
  useEffect(() => {
    const stops = (JSON.parse(closed) as readonly string[]).map((name) => {
      const leave = (): void => {
        const item = [...(list.current?.children ?? [])].find(
          (one) => one.getAttribute("data-name") === name,
        );
        if (item !== undefined && (item.matches(":hover") || item.contains(document.activeElement))) {
          stop = clock.setTimer(keepMs, leave);
          return;
        }
        setHeld((before) => ({
          ...before,
          shown: before.shown.filter((one) => one.open || one.name !== name),
        }));
      };
      let stop = clock.setTimer(keepMs, leave);
      return () => stop();
    });
    return () => stops.forEach((stop) => stop());
  }, [closed, keepMs, clock]);
  return { shown, list };
}

/** Those that are asked now, and those that were and are closed, in the order of asking. One that only left the list goes. */
function merged(
  before: readonly Shown[],
  approvals: readonly Approval[],
  store: TasksStore,
): readonly Shown[] {
  const open = approvals.map((approval) => ({ name: nameOf(approval), approval, open: true }));
  const names = new Set(open.map((one) => one.name));
  const closed = before.filter((one) => !names.has(one.name) && isClosed(one.approval, store));
  if (closed.length === 0) return open;
  // Questions that were asked at one time keep their places: a card must not move under somebody's hands.
  const places = new Map(before.map((one, place) => [one.name, place]));
  const placeOf = ({ name }: Shown): number => places.get(name) ?? before.length;
  return [...open, ...closed.map((one) => ({ ...one, open: false }))].sort(
    (a, b) => byAge(a, b) || placeOf(a) - placeOf(b),
  );
}

function byAge(a: Shown, b: Shown): number {
  const [one, other] = [a.approval.input.askedAt, b.approval.input.askedAt];
  return one < other ? -1 : one > other ? 1 : 0;
}

function isClosed({ task, input }: Approval, store: TasksStore): boolean {
  return standingOf(store.getSnapshot(), task.id, input).kind !== "open";
}

function nameOf({ task, input }: Approval): string {
  return question(task.id, input);
}
