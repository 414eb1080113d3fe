/** Owns the control for an instant: picked in the page's zone, sent with that zone's offset, and shown as it will be sent. */
import { useState, type ReactElement } from "react";
import { useLabels } from "./context.js";
import { localInputText, withZone } from "./dateTimeText.js";
import { FieldFrame, type FieldProps } from "./fieldFrame.js";
import { useHydrated } from "./timeText.js";

export function DateTimeField(props: FieldProps): ReactElement {
  const { field, id, value, onValue } = props;
  const labels = useLabels();
  // On a server nobody knows the person's zone.
  const hydrated = useHydrated();
  // What was typed stays as it is: turning it to an instant and back would change it under the person's hands.
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const text = typed ?? (hydrated && typeof value === "string" ? localInputText(value) : "");
  const sent = typeof value === "string" && value !== "" ? value : undefined;
  return (
    <FieldFrame
      {...props}
      note={
        sent === undefined ? undefined : (
          <>
            {labels.sentAs} <span className="taskrail-code">{sent}</span>
          </>
        )
      }
    >
      {(control) => (
        <input
          {...control}
          type="datetime-local"
          step={1}
          max="9999-12-31T23:59:59"
          className="taskrail-input"
          data-field={id.slice(id.lastIndexOf("-") + 1)}
          autoComplete="off"
          value={text}
          onChange={(event) => {
            setTyped(event.target.value);
            onValue(field.name, withZone(event.target.value));
          }}
        />
      )}
    </FieldFrame>
  );
}
