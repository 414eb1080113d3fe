/** Owns how the folders that the host would name are shown before they are sent. */
import type { ReactElement } from "react";
import { isObject, type JsonObject } from "../internal/json.js";
import { useLabels } from "./context.js";
import { ServerName, ServerText } from "./serverText.js";

export function RootsResult({ result }: { readonly result: JsonObject }): ReactElement {
  const labels = useLabels();
  const listed = result["roots"];
  const roots = Array.isArray(listed) ? (listed as readonly unknown[]) : [];
  if (roots.length === 0) return <p>{labels.rootsNone}</p>;
  return (
    <ul className="taskrail-list">
      {roots.map((root, index) => (
        <li key={index}>
          <Root root={root} />
        </li>
      ))}
    </ul>
  );
}

/** What is no folder is shown as it would be sent. */
function Root({ root }: { readonly root: unknown }): ReactElement {
  if (!isObject(root) || typeof root["uri"] !== "string")
    return <ServerText text={JSON.stringify(root)} code />;
  const { uri, name } = root;
  return (
    <>
      {typeof name === "string" ? <ServerName text={name} /> : null}{" "}
      <ServerName text={uri} className="taskrail-code" />
    </>
  );
}
