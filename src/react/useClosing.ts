/** Owns where the focus goes when a card closes: whoever was inside it lands on the line that says what happened. */
import { useEffect, useLayoutEffect, useState, type RefObject } from "react";

/** React 18 warns of layout effects on a server, where they do nothing anyway. */
export const useBrowserLayoutEffect = typeof document === "undefined" ? useEffect : useLayoutEffect;

/**
 * True once the card's body may go. A card that closes keeps its body for one more pass, to see whether the focus is in
 * it: once the element is gone, nobody can tell.
 */
export function useClosing(
  closed: boolean,
  root: RefObject<HTMLElement | null>,
  status: RefObject<HTMLElement | null>,
): boolean {
  const [collapsed, setCollapsed] = useState<"open" | "quiet" | "focus">(closed ? "quiet" : "open");
  useBrowserLayoutEffect(() => {
    if (!closed || collapsed !== "open") return;
    setCollapsed(root.current?.contains(document.activeElement) === true ? "focus" : "quiet");
  }, [closed, collapsed, root]);
  useBrowserLayoutEffect(() => {
    if (collapsed === "focus") status.current?.focus();
  }, [collapsed, status]);
  return collapsed !== "open";
}
