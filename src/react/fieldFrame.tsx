/** Owns what stands around every control: its name, help, hints and error, and how they are tied to it for assistive technology. */
import type { ReactElement, ReactNode } from "react";
import type { FormField, FormValue } from "../protocol/formTypes.js";
import { useLabels } from "./context.js";
import { ServerName, ServerText } from "./serverText.js";
import { visibleText } from "./visibleText.js";

/** What every field's control takes. */
export interface FieldProps {
  readonly field: FormField;
  /** Unique in the page; its last part is the field's place in the form. */
  readonly id: string;
  readonly value: FormValue;
  readonly error: string | undefined;
  readonly onValue: (name: string, value: FormValue) => void;
}

/** What a control must put on itself. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
  readonly "aria-required": boolean;
}

export interface FieldFrameProps extends FieldProps {
  /** True: several controls, which share the name. `box`: one control that has its name beside it, as `FieldName`. */
  readonly group?: "radiogroup" | "box" | true | undefined;
  /** One more line below the control. */
  readonly note?: ReactNode;
  readonly children: (control: ControlProps) => ReactNode;
}

/** The field's name, and whether it must be filled in. */
export function FieldName({ field }: { readonly field: FormField }): ReactElement {
  const labels = useLabels();
  return (
    <>
      <ServerName text={field.label} />{" "}
      <span className="taskrail-need">({field.required ? labels.required : labels.optional})</span>
    </>
  );
}

export function FieldFrame(props: FieldFrameProps): ReactElement {
  const { field, id, error, group, note, children } = props;
  const labels = useLabels();
  const hint = labels.limits(field.limits, field.kind);
  const lines = [
    field.help === undefined ? undefined : `${id}-help`,
    hint === undefined ? undefined : `${id}-hint`,
    note === undefined || note === null ? undefined : `${id}-note`,
    field.pattern === undefined ? undefined : `${id}-pattern`,
    field.warning === undefined ? undefined : `${id}-warning`,
    error === undefined ? undefined : `${id}-error`,
  ].filter((line) => line !== undefined);
  const describedBy = lines.length === 0 ? undefined : lines.join(" ");
  const control: ControlProps = {
    id,
    "aria-describedby": describedBy,
    "aria-invalid": error !== undefined,
    "aria-required": field.required,
  };
  const name = <FieldName field={field} />;
  const inside = (
    <>
      {field.help === undefined ? null : (
        <div className="taskrail-help" id={`${id}-help`}>
          <ServerText text={field.help} />
        </div>
      )}
      {field.warning === undefined ? null : (
        <p className="taskrail-note taskrail-note-warning" id={`${id}-warning`}>
          {labels.secretWarning}
        </p>
      )}
      {group === "box" ? null : children(control)}
      {hint === undefined ? null : (
        <p className="taskrail-help" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {note === undefined || note === null ? null : (
        <p className="taskrail-help" id={`${id}-note`}>
          {note}
        </p>
      )}
      {field.pattern === undefined ? null : (
        <p className="taskrail-help" id={`${id}-pattern`}>
          {labels.pattern} <ServerName text={field.pattern} className="taskrail-code" />
        </p>
      )}
      {error === undefined ? null : (
        <p className="taskrail-error" id={`${id}-error`}>
          {visibleText(error)}
        </p>
      )}
    </>
  );
  if (group === "box") {
    return (
      <div className="taskrail-field" data-invalid={error !== undefined}>
        {children(control)}
        {inside}
      </div>
    );
  }
  if (group === undefined) {
    return (
      <div className="taskrail-field" data-invalid={error !== undefined}>
        <label className="taskrail-label" htmlFor={id}>
          {name}
        </label>
        {inside}
      </div>
    );
  }
  const radios = group === "radiogroup";
  return (
    <fieldset
      className="taskrail-field"
      data-invalid={error !== undefined}
      aria-describedby={describedBy}
      {...(radios
        ? { role: "radiogroup", "aria-invalid": error !== undefined, "aria-required": field.required }
        : {})}
    >
      <legend className="taskrail-label">{name}</legend>
      {inside}
    </fieldset>
  );
}
