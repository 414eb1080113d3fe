/** Owns a list of radio buttons or checkboxes with their texts. */
import type { ReactElement } from "react";
import { ServerName } from "./serverText.js";

export interface ChoiceListProps {
  readonly id: string;
  readonly type: "radio" | "checkbox";
  readonly options: readonly { readonly label: string; readonly checked: boolean }[];
  readonly onPick: (index: number, checked: boolean) => void;
  readonly invalid?: boolean;
}

export function ChoiceList({ id, type, options, onPick, invalid }: ChoiceListProps): ReactElement {
  return (
    <div className="taskrail-choices">
      {options.map(({ label, checked }, index) => (
        <label key={index} className="taskrail-choice">
          <input
            type={type}
            name={id}
            checked={checked}
            // Radio buttons know no such thing: their group says it.
            {...(type === "checkbox" ? { "aria-invalid": invalid === true } : {})}
            onChange={(event) => onPick(index, event.target.checked)}
          />
          <ServerName text={label} />
        </label>
      ))}
    </div>
  );
}
