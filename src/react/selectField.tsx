/** Owns the control for one of many choices. Nothing is chosen until the person does, or the server's default is. */
import type { ReactElement } from "react";
import { useLabels } from "./context.js";
import { FieldFrame, type FieldProps } from "./fieldFrame.js";
import { clipped, visibleText } from "./visibleText.js";

const LABEL_LIMIT = 200;

export function SelectField(props: FieldProps): ReactElement {
  const { field, value, onValue } = props;
  const labels = useLabels();
  const options = field.options ?? [];
  // A choice may be any text, the empty one too: the element's own values are places in the list.
  const place = options.findIndex((option) => option.value === value);
  return (
    <FieldFrame {...props}>
      {(control) => (
        <select
          {...control}
          className="taskrail-input"
          value={place < 0 ? "" : String(place)}
          onChange={(event) =>
            onValue(
              field.name,
              event.target.value === "" ? undefined : options[Number(event.target.value)]?.value,
            )
          }
        >
          <option value="">{field.required ? labels.choose : labels.noAnswer}</option>
          {options.map((option, index) => (
            <option key={index} value={String(index)}>
              {visibleText(clipped(option.label, LABEL_LIMIT))}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}
