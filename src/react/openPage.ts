/** Owns opening a page in a window of its own, in a click, so that it is known whether it opened. */

/**
 * True once the window is there. With "noopener" browsers answer nothing whether it opened or not, so an empty window
 * is opened first and cut off from this page; the address follows by a link of its own, which sends no referrer.
 */
export function openPage(href: string): boolean {
  let opened: Window | null;
  try {
    opened = window.open("about:blank", "_blank");
  } catch {
    return false;
  }
  if (opened === null || opened.closed) return false;
  try {
    opened.opener = null;
    const link = opened.document.createElement("a");
    link.href = href;
    link.rel = "noreferrer";
    opened.document.body.append(link);
    link.click();
    return true;
  } catch {
    opened.close();
    return false;
  }
}
