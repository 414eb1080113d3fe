/** Owns which control a field gets by its kind. A kind that this release cannot draw is said, never drawn as another. */
import type { ReactElement } from "react";
import { BooleanField } from "./booleanField.js";
import { ChoiceField } from "./choiceField.js";
import { DateTimeField } from "./dateTimeField.js";
import { FieldFrame, type FieldProps } from "./fieldFrame.js";
import { SelectField } from "./selectField.js";
import { TextField } from "./textField.js";
import { visibleText } from "./visibleText.js";

/** With more choices than these, a list that opens is easier than buttons. */
const MOST_RADIOS = 5;

export function FormFieldView(props: FieldProps): ReactElement {
  const { field } = props;
  switch (field.kind) {
    case "string":
      return field.format === "date-time" ? <DateTimeField {...props} /> : <TextField {...props} />;
    case "number":
    case "integer":
      return <TextField {...props} />;
    case "boolean":
      return <BooleanField {...props} />;
    case "select":
      return (field.options?.length ?? 0) > MOST_RADIOS ? (
        <SelectField {...props} />
      ) : (
        <ChoiceField {...props} />
      );
    case "multi-select":
      return <ChoiceField {...props} />;
    case "unsupported":
      return (
        <FieldFrame {...props} group>
          {() => <p className="taskrail-note taskrail-note-warning">{visibleText(field.reason ?? "")}</p>}
        </FieldFrame>
      );
  }
}
