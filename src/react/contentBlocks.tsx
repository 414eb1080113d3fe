/** Owns how content blocks of the protocol are shown: text as text, anything with data by its kind and size, the rest as JSON. */
import type { ReactElement } from "react";
import { isObject, type JsonValue } from "../internal/json.js";
import { useLabels } from "./context.js";
import { ServerText } from "./serverText.js";
import { clipped, visibleText } from "./visibleText.js";

/** More blocks than these nobody reads; the last line says how many there are. */
const MOST_BLOCKS = 100;

/** One block or a list of them. */
export function ContentBlocks({ content }: { readonly content: JsonValue | undefined }): ReactElement {
  const blocks: readonly unknown[] =
    content === undefined ? [] : Array.isArray(content) ? content : [content];
  return (
    <>
      {blocks.slice(0, MOST_BLOCKS).map((block, index) => (
        <ContentBlock key={index} block={block} />
      ))}
      {blocks.length > MOST_BLOCKS ? (
        <p className="taskrail-help">{`+ ${blocks.length - MOST_BLOCKS}`}</p>
      ) : null}
    </>
  );
}

function ContentBlock({ block }: { readonly block: unknown }): ReactElement {
  const labels = useLabels();
  if (isObject(block)) {
    const { type, text, data, mimeType } = block;
    if (type === "text" && typeof text === "string") return <ServerText text={text} />;
    if (typeof data === "string") {
      const kind = visibleText(clipped(String(type), 40));
      const media = visibleText(clipped(typeof mimeType === "string" ? mimeType : "?", 100));
      return <p className="taskrail-media">{labels.media(kind, media, base64Size(data))}</p>;
    }
  }
  return <ServerText text={JSON.stringify(block, null, 2)} code />;
}

function base64Size(data: string): number {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}
