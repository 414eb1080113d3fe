/** Owns how a text from outside is put into the page: as text, isolated in its direction, clamped where it is long. */
import { useState, type ReactElement } from "react";
import { useLabels } from "./context.js";
import { clipped, visibleText } from "./visibleText.js";

/** How much of a text is shown at first, in UTF-16 units. */
const FIRST_LOOK = 2000;
const NAME_LIMIT = 200;

/** A text of a server, in paragraphs as it has them. */
export function ServerText({
  text,
  code = false,
}: {
  readonly text: string;
  readonly code?: boolean;
}): ReactElement {
  const labels = useLabels();
  const [all, setAll] = useState(false);
  const long = text.length > FIRST_LOOK;
  const shown = long && !all ? clipped(text, FIRST_LOOK) : text;
  return (
    <div className={code ? "taskrail-text taskrail-text-code" : "taskrail-text"}>
      {/* A text of any length scrolls inside its own box, which the keyboard must reach. */}
      <div
        className="taskrail-text-body"
        {...(long && all ? { tabIndex: 0, role: "group", "aria-label": labels.showAll(text.length) } : {})}
      >
        <bdi>{visibleText(shown)}</bdi>
        {long && !all ? "…" : null}
      </div>
      {long ? (
        <button type="button" className="taskrail-link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? labels.showLess : labels.showAll(text.length)}
        </button>
      ) : null}
    </div>
  );
}

/** A name from outside, on one line, cut where it is too long to be one. */
export function ServerName({
  text,
  className,
}: {
  readonly text: string;
  readonly className?: string;
}): ReactElement {
  const cut = text.length > NAME_LIMIT;
  return (
    <bdi className={className} {...(cut ? { title: visibleText(clipped(text, 2000)) } : {})}>
      {visibleText(clipped(text, NAME_LIMIT)).replace(/[\n\t]+/g, " ")}
      {cut ? "…" : ""}
    </bdi>
  );
}
