/** Owns how a request to the model is shown for review: all that would be sent, as text. Images and sounds are named, never loaded. */
import type { ReactElement } from "react";
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import { useLabels } from "./context.js";
import { ContentBlocks } from "./contentBlocks.js";
import { ServerText } from "./serverText.js";
import { clipped, visibleText } from "./visibleText.js";

export function SamplingRequest({ params }: { readonly params: JsonObject }): ReactElement {
  const labels = useLabels();
  const { systemPrompt, messages, ...settings } = params;
  delete (settings as Record<string, unknown>)["_meta"];
  return (
    <div className="taskrail-sampling">
      {systemPrompt === undefined ? null : (
        <section className="taskrail-message">
          <p className="taskrail-label">{labels.modelSystem}</p>
          <ServerText text={asText(systemPrompt)} />
        </section>
      )}
      {(Array.isArray(messages) ? (messages as readonly JsonValue[]) : []).map((message, index) => (
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

/** One message, of the request or of the model's answer. */
export function SamplingMessage({ message }: { readonly message: JsonValue }): ReactElement {
  const labels = useLabels();
  if (!isObject(message)) return <ServerText text={JSON.stringify(message)} code />;
  const { role, content, model } = message;
  return (
    <section className="taskrail-message">
      <p className="taskrail-label">
        {typeof role === "string" ? visibleText(clipped(labels.modelRole(role), 100)) : labels.modelRole("?")}
        {typeof model === "string" ? ` · ${visibleText(clipped(model, 200))}` : ""}
      </p>
      <ContentBlocks content={content} />
    </section>
  );
}

function asText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
