/** Owns the way from the inbox to a question in the conversation. */

/** Scrolls to the question's card and puts the focus on its first control. */
export function reveal(id: string, key: string): void {
  // The server's key is any text, so it is compared and not made a selector.
  const items = [...document.querySelectorAll<HTMLElement>(".tasks [data-question]")];
  const item = items.find(({ dataset }) => dataset["question"] === `${id} ${key}`);
  if (item === undefined) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  item.querySelector<HTMLElement>("input, select, textarea, button")?.focus({ preventScroll: true });
  item.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "center" });
}
