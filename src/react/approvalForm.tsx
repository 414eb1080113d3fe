/** Owns the form and confirmation variants: what was put in, what is wrong with it, and that only a whole form is accepted. */
import { useId, useMemo, useRef, useState, type FormEvent, type ReactElement } from "react";
import type { Approval } from "../approvals/storeTypes.js";
import type { InputView } from "../approvals/wire.js";
import { elicitationForm } from "../protocol/elicitationForm.js";
import type { FormValue, FormValues } from "../protocol/formTypes.js";
import { AnswerButtons } from "./answerButtons.js";
import { ApprovalFoot } from "./approvalFoot.js";
import { useLabels } from "./context.js";
import { FormFieldView } from "./formFieldView.js";
import { fieldErrors, withMoreErrors, ownValue, type FieldErrors } from "./formErrors.js";
import { ServerText } from "./serverText.js";
import { visibleText } from "./visibleText.js";
import type { Answering, CardState } from "./useAnswering.js";
import { useBrowserLayoutEffect } from "./useClosing.js";

export interface ApprovalFormProps {
  readonly approval: Approval;
  readonly input: Extract<InputView, { readonly kind: "elicitation-form" }>;
  readonly answering: Answering;
}

export function ApprovalForm({ approval, input, answering }: ApprovalFormProps): ReactElement {
  const labels = useLabels();
  const id = useId();
  const node = useRef<HTMLFormElement>(null);
  // The host sends a call anew whenever it changed: the same question is then another object.
  const schema = JSON.stringify(input.requestedSchema);
  const form = useMemo(
    () => elicitationForm(JSON.parse(schema) as typeof input.requestedSchema, { messages: labels.form }),
    [schema, labels.form],
  );
  const [values, setValues] = useState<FormValues>(form.initialValues);
  const [wrong, setWrong] = useState<FieldErrors>({});
  const { state, busy, send } = answering;
  // What the host found wrong is old news once something was changed.
  const [seen, setSeen] = useState<CardState | undefined>(undefined);
  const errors = fieldErrors(form.fields, wrong, state === seen ? undefined : state);
  const wrongCount = Object.keys(errors).length;

  // The first field that is wrong gets the focus each time that accepting was tried.
  const [tried, setTried] = useState(0);
  useBrowserLayoutEffect(() => {
    node.current?.querySelector<HTMLElement>("[data-invalid='true'] :is(input, select, textarea)")?.focus();
  }, [tried, state]);

  const change = (name: string, value: FormValue): void => {
    if (busy) return;
    setSeen(state);
    setValues((before) => ({ ...before, [name]: value }));
    setWrong((before) => Object.fromEntries(Object.entries(before).filter(([one]) => one !== name)));
  };
  const accept = (event: FormEvent): void => {
    event.preventDefault();
    if (busy || !form.acceptable) return;
    const parsed = form.parse(values);
    const found = withMoreErrors(parsed.errors ?? {}, {
      form: node.current,
      fields: form.fields,
      values,
      labels,
    });
    setWrong(found);
    if (parsed.content !== undefined && Object.keys(found).length === 0) {
      send({ action: "accept", content: parsed.content }, "accept");
    } else setTried((count) => count + 1);
  };

  return (
    <form ref={node} className="taskrail-form" noValidate autoComplete="off" onSubmit={accept}>
      <ServerText text={input.message} />
      {form.fields.map((field, index) => (
        <FormFieldView
          key={field.name}
          field={field}
          id={`${id}-${index}`}
          value={ownValue(values, field.name)}
          error={ownValue(errors, field.name)}
          onValue={change}
        />
      ))}
      {form.acceptable ? null : (
        <p className="taskrail-note taskrail-note-warning">
          {labels.notAcceptable} {form.reason === undefined ? null : visibleText(form.reason)}
        </p>
      )}
      <ApprovalFoot
        approval={approval}
        answering={answering}
        problem={wrongCount === 0 ? undefined : labels.fieldsWrong(wrongCount)}
      >
        <AnswerButtons answering={answering} accept={form.acceptable ? labels.accept : undefined} />
      </ApprovalFoot>
    </form>
  );
}
