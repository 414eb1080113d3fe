/** Owns how instants of the host's clock are shown: the time of day, what has passed, what is left. */
import { useSyncExternalStore, type ReactElement } from "react";
import { useLabels } from "./context.js";
import { useNow } from "./useNow.js";

const never = (): (() => void) => () => undefined;

/** False on a server and during hydration, where the person's zone and language are not known. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}

/** The time of day of the page's zone, with the date where it is not today; in UTC where the zone is not known. */
export function TimeOfDay({ at }: { readonly at: string }): ReactElement {
  const { locale } = useLabels();
  const local = useHydrated();
  return (
    <time dateTime={at}>{local ? localText(at, locale) : `${at.slice(0, 16).replace("T", " ")} UTC`}</time>
  );
}

/** How long it took from one instant to another. */
export function TimeBetween({ from, to }: { readonly from: string; readonly to: string }): ReactElement {
  const { duration } = useLabels();
  return <span className="taskrail-time">{duration(Date.parse(to) - Date.parse(from))}</span>;
}

/** How long ago it was, ticking. */
export function TimeSince({ at }: { readonly at: string }): ReactElement {
  const { duration } = useLabels();
  const now = useNow();
  return <span className="taskrail-time">{now === undefined ? "…" : duration(now - Date.parse(at))}</span>;
}

/** How long it is until then, ticking, in a sentence that is made anew; it gets undefined once the time has passed. */
export function TimeUntil(props: {
  readonly at: string;
  readonly children: (left: string | undefined) => string;
}): ReactElement {
  const { duration } = useLabels();
  const now = useNow();
  const left = now === undefined ? undefined : Date.parse(props.at) - now;
  const text = left === undefined ? "…" : left > 0 ? duration(left) : undefined;
  return <span className="taskrail-time">{props.children(text)}</span>;
}

function localText(at: string, locale: string | undefined): string {
  const instant = new Date(at);
  if (Number.isNaN(instant.getTime())) return at;
  const today = new Date().toDateString() === instant.toDateString();
  return today
    ? instant.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" })
    : instant.toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}
