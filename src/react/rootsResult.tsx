/** Owns how the folders that the host would name are shown before they are sent. */
import type { ReactElement } from "react";
import { isObject, type JsonObject } from "../internal/json.js";
import { useLabels } from "./context.js";
import { ServerName } from "./serverText.js";

export function RootsResult({ result }: { readonly result: JsonObject }): ReactElement {
  const labels = useLabels();
  const listed = result["roots"];
  const roots = (Array.isArray(listed) ? (listed as readonly unknown[]) : []).filter(isObject);
  if (roots.length === 0) return <p>{labels.rootsNone}</p>;
  return (
    <ul className="taskrail-list">
      {roots.map(({ uri, name }, index) => (
        <li key={index}>
          {typeof name === "string" ? <ServerName text={name} /> : null}{" "}
          <ServerName text={String(uri)} className="taskrail-code" />
        </li>
      ))}
    </ul>
  );
}
