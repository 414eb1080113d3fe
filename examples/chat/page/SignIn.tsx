/** Owns the choice of who one is. */
import type { JSX } from "react";

export function SignIn({
  people,
  onChoose,
}: {
  readonly people: readonly string[];
  readonly onChoose: (name: string) => void;
}): JSX.Element {
  return (
    <main className="signin">
      <div className="signin-box">
        <Mark />
        <h1>Desk</h1>
        <p>Who are you? What you approve is kept under your name.</p>
        <ul>
          {people.map((name) => (
            <li key={name}>
              <button type="button" onClick={() => onChoose(name)}>
                <Avatar name={name} />
                <span>{name}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}

export function Avatar({ name }: { readonly name: string }): JSX.Element {
  return (
    <span className="avatar" aria-hidden="true" data-tone={name.length % 2}>
      {name.slice(0, 1)}
    </span>
  );
}

export function Mark(): JSX.Element {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" />
      <path d="M8 11.5h16M8 16h10M8 20.5h13" />
    </svg>
  );
}
