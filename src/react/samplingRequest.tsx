/** Owns how a request to the model is shown for review: all that would be sent, as text. Images and sounds are named, never loaded. */
import type { ReactElement } from "react";
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import { useLabels } from "./context.js";
import { ContentBlocks, Rest } from "./contentBlocks.js";
import { ServerText } from "./serverText.js";
import { visibleText } from "./visibleText.js";

export function SamplingRequest({ params }: { readonly params: JsonObject }): ReactElement {
  const labels = useLabels();
  const { systemPrompt, messages, ...others } = params;
  const listed = Array.isArray(messages) ? (messages as readonly JsonValue[]) : [];
  const settings = messages === undefined || Array.isArray(messages) ? others : { ...others, messages };
  return (
    <div className="taskrail-sampling">
      {systemPrompt === undefined ? null : (
        <section className="taskrail-message">
          <p className="taskrail-label">{labels.modelSystem}</p>
          <ServerText text={asText(systemPrompt)} />
        </section>
      )}
      {listed.map((message, index) => (
        <SamplingMessage key={index} message={message} />
      ))}
      {Object.keys(settings).length === 0 ? null : (
        <details className="taskrail-details">
          <summary>{labels.modelSettings}</summary>
          <ServerText text={JSON.stringify(settings, null, 2)} code />
        </details>
      )}
    </div>
  );
}

const MOST_MODEL_CHARS = 200;

/** One message, of the request or of the model's answer. */
export function SamplingMessage({ message }: { readonly message: JsonValue }): ReactElement {
  const labels = useLabels();
  if (!isObject(message)) return <ServerText text={JSON.stringify(message)} code />;
  const { role, content, model, ...more } = message;
  const isRole = role === "user" || role === "assistant";
  const isModel = typeof model === "string" && model.length <= MOST_MODEL_CHARS;
  // What the line above the text does not say in full stands below it.
  const rest = {
    ...(isRole || role === undefined ? {} : { role }),
    ...(isModel || model === undefined ? {} : { model }),
    ...more,
  };
  return (
    <section className="taskrail-message">
      <p className="taskrail-label">
        {labels.modelRole(isRole ? role : "?")}
        {isModel ? ` · ${visibleText(model)}` : ""}
      </p>
      <ContentBlocks content={content} />
      <Rest rest={rest} />
    </section>
  );
}

function asText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
