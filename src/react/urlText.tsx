/** Owns the whole address as text, with its host stressed. It is no link, so that no browser prepares to open it. */
import type { ReactElement } from "react";
import { useLabels } from "./context.js";
import type { UrlFacts } from "./urlFacts.js";

export function UrlText(props: {
  readonly facts: Extract<UrlFacts, { readonly refused?: undefined }>;
}): ReactElement {
  const { before, host, after } = props.facts;
  const labels = useLabels();
  return (
    // Left to right whatever the page is: an address has one direction. Long ones scroll, so the keyboard must reach it.
    <div className="taskrail-url" dir="ltr" tabIndex={0} role="group" aria-label={labels.pageAddress}>
      {before}
      <strong>{host}</strong>
      {after}
    </div>
  );
}
