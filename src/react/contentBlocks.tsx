/** Owns how content blocks of the protocol are shown: text as text, images and sounds by their kind and size, the rest as JSON. Nothing of a block is left out. */
import { useState, type ReactElement } from "react";
import { isObject, type JsonValue } from "../internal/json.js";
import { useLabels } from "./context.js";
import { ServerText } from "./serverText.js";
import { visibleText } from "./visibleText.js";

/** More blocks than these are shown on demand. */
const FIRST_BLOCKS = 100;
/** A longer type of media is none, but a text that somebody may want to pass by the reader. */
const MOST_TYPE_CHARS = 100;

/** One block or a list of them. */
export function ContentBlocks({ content }: { readonly content: JsonValue | undefined }): ReactElement {
  const labels = useLabels();
  const [all, setAll] = useState(false);
  const blocks: readonly unknown[] =
    content === undefined ? [] : Array.isArray(content) ? content : [content];
  const more = blocks.length - FIRST_BLOCKS;
  return (
    <>
      {(all ? blocks : blocks.slice(0, FIRST_BLOCKS)).map((block, index) => (
        <ContentBlock key={index} block={block} />
      ))}
      {more > 0 ? (
        <button type="button" className="taskrail-link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? labels.showLess : labels.showMore(more)}
        </button>
      ) : null}
    </>
  );
}

function ContentBlock({ block }: { readonly block: unknown }): ReactElement {
  const labels = useLabels();
  if (isObject(block)) {
    const { type, text, data, mimeType, annotations, ...more } = block;
    const rest = annotations === undefined ? more : { ...more, annotations };
    if (type === "text" && typeof text === "string" && data === undefined && mimeType === undefined) {
      return (
        <>
          <ServerText text={text} />
          <Rest rest={rest} />
        </>
      );
    }
    // Data that is no base64 may be anything, and other members may say anything.
    const isMedia = (type === "image" || type === "audio") && typeof data === "string" && BASE64.test(data);
    const isKnown = typeof mimeType === "string" && mimeType.length <= MOST_TYPE_CHARS;
    if (isMedia && isKnown && text === undefined && Object.keys(more).length === 0) {
      return (
        <>
          <p className="taskrail-media">{labels.media(type, visibleText(mimeType), base64Size(data))}</p>
          <Rest rest={rest} />
        </>
      );
    }
  }
  return <ServerText text={JSON.stringify(block, null, 2)} code />;
}

/** The members that have no look of their own. */
export function Rest({ rest }: { readonly rest: Readonly<Record<string, unknown>> }): ReactElement | null {
  const text = JSON.stringify(rest, null, 2);
  return text === "{}" ? null : <ServerText text={text} code />;
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function base64Size(data: string): number {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}
