/**
 * Owns the control for yes or no. With the server's default it is a checkbox; without one it is two buttons, because an
 * empty checkbox would answer "no" for a person who has not decided.
 */
import type { ReactElement } from "react";
import { ChoiceList } from "./choiceList.js";
import { FieldFrame, FieldName, type FieldProps } from "./fieldFrame.js";
import { useLabels } from "./context.js";

export function BooleanField(props: FieldProps): ReactElement {
  const { field, id, value, onValue } = props;
  const labels = useLabels();
  if (typeof field.default === "boolean") {
    return (
      <FieldFrame {...props} group="box">
        {({ id: controlId, "aria-describedby": describedBy, "aria-invalid": invalid }) => (
          <label className="taskrail-choice" htmlFor={controlId}>
            <input
              id={controlId}
              type="checkbox"
              aria-describedby={describedBy}
              aria-invalid={invalid}
              checked={value === true}
              onChange={(event) => onValue(field.name, event.target.checked)}
            />
            <span className="taskrail-label">
              <FieldName field={field} />
            </span>
          </label>
        )}
      </FieldFrame>
    );
  }
  const options = [
    { value: true, label: labels.yes },
    { value: false, label: labels.no },
    ...(field.required ? [] : [{ value: undefined, label: labels.noAnswer }]),
  ];
  return (
    <FieldFrame {...props} group="radiogroup">
      {() => (
        <ChoiceList
          id={id}
          type="radio"
          options={options.map(({ label, value: one }) => ({ label, checked: one === value }))}
          onPick={(index) => onValue(field.name, options[index]?.value)}
        />
      )}
    </FieldFrame>
  );
}
