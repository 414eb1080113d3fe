/** Owns text that others wrote, and that may be very long: its beginning, and the rest when it is wanted. */
import { visibleText } from "mcp-taskrail/react";
import { useState, type JSX } from "react";

const MAX_TEXT = 2000;

export function LongText({ text }: { readonly text: string }): JSX.Element {
  const [whole, setWhole] = useState(false);
  if (whole || text.length <= MAX_TEXT) return <bdi>{visibleText(text)}</bdi>;
  return (
    <>
      <bdi>{visibleText(text.slice(0, MAX_TEXT))}</bdi>…{" "}
      <button type="button" onClick={() => setWhole(true)}>
        Show all {text.length} characters
      </button>
    </>
  );
}
