/** Owns how the answer to `server/discover` is read. It judges no version: that is the connection's part. */
import { isObject, type JsonObject } from "../internal/json.js";
import { readCompleteAnswer } from "./answer.js";
import { META_SERVER_INFO, TASKS_EXTENSION } from "./constants.js";

/** What `server/discover` told. */
export interface ServerDescription {
  readonly name: string | undefined;
  readonly title: string | undefined;
  readonly version: string | undefined;
  readonly supportedVersions: readonly string[];
  readonly capabilities: JsonObject;
  /** True when the server declares the tasks extension. */
  readonly tasks: boolean;
  readonly instructions: string | undefined;
  /** How long the description may be kept, in milliseconds; null when the server did not say. */
  readonly ttlMs: number | null;
}

/** Reads the answer to `server/discover`; what is not as expected counts as not said. */
export function readDescription(raw: JsonObject): ServerDescription {
  const answer = readCompleteAnswer(raw, "server/discover");
  const meta = answer["_meta"];
  // Earlier drafts had serverInfo at the top.
  const told = (isObject(meta) ? meta[META_SERVER_INFO] : undefined) ?? answer["serverInfo"];
  const info = isObject(told) ? told : {};
  const versions = answer["supportedVersions"];
  const capabilities = isObject(answer["capabilities"]) ? answer["capabilities"] : {};
  const extensions = capabilities["extensions"];
  return {
    name: text(info["name"]),
    title: text(info["title"]),
    version: text(info["version"]),
    supportedVersions: Array.isArray(versions)
      ? versions.filter((version): version is string => typeof version === "string")
      : [],
    capabilities,
    tasks: isObject(extensions) && isObject(extensions[TASKS_EXTENSION]),
    instructions: text(answer["instructions"]),
    ttlMs: readTtl(answer["ttlMs"]),
  };
}

/** What a server calls itself, for people: told in the `_meta` of every result, so that nobody needs to ask. */
export function readServerName(meta: unknown): string | undefined {
  const info = isObject(meta) ? meta[META_SERVER_INFO] : undefined;
  if (!isObject(info) || typeof info["name"] !== "string") return undefined;
  return text(info["title"]) ?? info["name"];
}

/** The time that an answer may be kept, in milliseconds; 0: not at all; null: not said, or not usable. */
export function readTtl(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
