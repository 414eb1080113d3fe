/** Owns the line that one types in. */
import { useState, type FormEvent, type JSX, type KeyboardEvent } from "react";

export function Composer({ onSend }: { readonly onSend: (text: string) => void }): JSX.Element {
  const [text, setText] = useState("");

  function send(event?: FormEvent): void {
    event?.preventDefault();
    const trimmed = text.trim();
    if (trimmed === "") return;
    onSend(trimmed);
    setText("");
  }

  function onKeyDown(event: KeyboardEvent): void {
    // Enter also confirms a word of an input method: that one is not ours.
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      send();
    }
  }

  return (
    <form className="composer" onSubmit={send}>
      <label className="hidden" htmlFor="message">
        Message
      </label>
      <textarea
        id="message"
        rows={1}
        value={text}
        maxLength={4000}
        placeholder="Ask for something…"
        enterKeyHint="send"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="send" disabled={text.trim() === ""} aria-label="Send">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 16V4.5M5 9l5-5 5 5" />
        </svg>
      </button>
    </form>
  );
}
