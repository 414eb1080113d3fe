/** Owns a completed task's result: loaded once, shown as text. */
import type { ReactElement } from "react";
import type { JsonValue } from "../internal/json.js";
import { ContentBlocks } from "./contentBlocks.js";
import { useLabels } from "./context.js";
import { ServerText } from "./serverText.js";
import { useTask } from "./useTask.js";

export function TaskResult({ id }: { readonly id: string }): ReactElement {
  const labels = useLabels();
  const { result, error, reload } = useTask(id);
  if (error !== undefined) {
    return (
      <p className="taskrail-note" role="alert">
        {labels.resultNotLoaded}{" "}
        <button type="button" className="taskrail-link" onClick={reload}>
          {labels.retry}
        </button>
      </p>
    );
  }
  if (result === undefined) return <p role="status">{labels.loadingResult}</p>;
  const content: JsonValue | undefined = result["content"];
  if (Array.isArray(content) && content.length > 0) return <ContentBlocks content={content} />;
  const structured = result["structuredContent"];
  if (structured === undefined) return <p className="taskrail-help">{labels.emptyResult}</p>;
  return <ServerText text={JSON.stringify(structured, null, 2)} code />;
}
