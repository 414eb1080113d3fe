/** Owns copying a text to the clipboard, and saying that it is there. */
import { useState, type ReactElement } from "react";
import { useLabels } from "./context.js";
import { useHydrated } from "./timeText.js";

/** Nothing where the browser has no clipboard for this page (plain http): the text can be selected. */
export function CopyButton({ text }: { readonly text: string }): ReactElement | null {
  const labels = useLabels();
  const [copied, setCopied] = useState(false);
  const hydrated = useHydrated();
  // The type says that every page has one; pages without a secure context do not.
  const clipboard = hydrated ? (navigator.clipboard as Clipboard | undefined) : undefined;
  if (clipboard === undefined) return null;
  const copy = (): void => {
    clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <p className="taskrail-meta">
      <button type="button" className="taskrail-link" onClick={copy}>
        {labels.copyAddress}
      </button>
      <span role="status">{copied ? labels.copied : ""}</span>
    </p>
  );
}
