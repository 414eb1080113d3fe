/** Owns the controls for one of a few choices (radio buttons) and for any number of them (checkboxes). */
import type { ReactElement } from "react";
import { ChoiceList } from "./choiceList.js";
import { useLabels } from "./context.js";
import { FieldFrame, type FieldProps } from "./fieldFrame.js";

export function ChoiceField(props: FieldProps): ReactElement {
  return props.field.kind === "multi-select" ? <ManyField {...props} /> : <OneField {...props} />;
}

function OneField(props: FieldProps): ReactElement {
  const { field, id, value, onValue } = props;
  const labels = useLabels();
  const options: readonly { readonly value?: string; readonly label: string }[] = [
    ...(field.options ?? []),
    ...(field.required ? [] : [{ label: labels.noAnswer }]),
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

function ManyField(props: FieldProps): ReactElement {
  const { field, id, value, error, onValue } = props;
  const options = field.options ?? [];
  const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
  const pick = (index: number, checked: boolean): void => {
    const picked = options[index]?.value;
    // In the order of the list, whatever the order of the clicks.
    const next = options
      .map((option) => option.value)
      .filter((one) => (one === picked ? checked : chosen.includes(one)));
    onValue(field.name, next);
  };
  return (
    <FieldFrame {...props} group>
      {() => (
        <ChoiceList
          id={id}
          type="checkbox"
          invalid={error !== undefined}
          options={options.map((option) => ({ label: option.label, checked: chosen.includes(option.value) }))}
          onPick={pick}
        />
      )}
    </FieldFrame>
  );
}
