/** Owns text that may be very long: its beginning, and the rest when it is wanted. */
import { useState, type JSX } from "react";

const MAX_TEXT = 2000;

export function LongText({ text }: { readonly text: string }): JSX.Element {
  const [whole, setWhole] = useState(false);
  if (whole || text.length <= MAX_TEXT) return <>{text}</>;
  return (
    <>
      {text.slice(0, MAX_TEXT)}…{" "}
      <button type="button" onClick={() => setWhole(true)}>
        Show all {text.length} characters
      </button>
    </>
  );
}
