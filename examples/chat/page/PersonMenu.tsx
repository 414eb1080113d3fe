/** Owns the menu of whoever is signed in. A tap on the name opens it; nobody is signed out by a slip of the finger. */
import { useEffect, useRef, type JSX } from "react";
import { Avatar } from "./SignIn.js";

export function PersonMenu({
  actor,
  onLeave,
}: {
  readonly actor: string;
  readonly onLeave: () => void;
}): JSX.Element {
  const menu = useRef<HTMLDetailsElement>(null);

  // It closes as menus do: by Escape, and by a press anywhere else.
  useEffect(() => {
    const onPress = ({ target }: Event): void => {
      const element = menu.current;
      if (element !== null && !(target instanceof Node && element.contains(target))) element.open = false;
    };
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, []);

  return (
    <details
      ref={menu}
      className="person-menu"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || menu.current?.open !== true) return;
        menu.current.open = false;
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary className="person">
        <Avatar name={actor} />
        <span className="hidden">Signed in as </span>
        <span className="person-name">{actor}</span>
      </summary>
      <div className="person-choices">
        <p>
          Signed in as <b>{actor}</b>
        </p>
        <button type="button" onClick={onLeave}>
          Sign out
        </button>
      </div>
    </details>
  );
}
