/** Owns the control for text, numbers and dates without a time. Numbers are typed as text, so that nothing typed is swallowed. */
import type { ReactElement } from "react";
import type { FormField } from "../protocol/formTypes.js";
import { FieldFrame, type FieldProps } from "./fieldFrame.js";

/** A text that may be longer gets several lines. */
const LONGEST_LINE = 255;

export function TextField(props: FieldProps): ReactElement {
  const { field, id, value, onValue } = props;
  const text = value === undefined ? "" : String(value);
  return (
    <FieldFrame {...props}>
      {(control) =>
        isLong(field) ? (
          <textarea
            {...control}
            className="taskrail-input"
            rows={4}
            value={text}
            onChange={(event) => onValue(field.name, event.target.value)}
          />
        ) : (
          <input
            {...control}
            {...inputType(field)}
            className="taskrail-input"
            data-field={id.slice(id.lastIndexOf("-") + 1)}
            autoComplete="off"
            value={text}
            onChange={(event) => onValue(field.name, event.target.value)}
          />
        )
      }
    </FieldFrame>
  );
}

function isLong(field: FormField): boolean {
  if (field.kind !== "string" || field.format !== undefined) return false;
  // A single line would drop the line ends of the default.
  if (typeof field.default === "string" && field.default.includes("\n")) return true;
  return (field.limits.maxLength ?? 0) > LONGEST_LINE || (field.limits.minLength ?? 0) > LONGEST_LINE;
}

function inputType({ kind, format, limits }: FormField): {
  readonly type: string;
  readonly inputMode?: "numeric" | "decimal" | "text";
} {
  // The number keyboards of some phones have no minus sign: where less than 0 is allowed, the full one.
  const least = limits.minimum ?? limits.exclusiveMinimum ?? -1;
  if (kind === "integer") return { type: "text", inputMode: least >= 0 ? "numeric" : "text" };
  if (kind === "number") return { type: "text", inputMode: least >= 0 ? "decimal" : "text" };
  if (format === "email") return { type: "email" };
  if (format === "uri") return { type: "url" };
  return { type: format === "date" ? "date" : "text" };
}
