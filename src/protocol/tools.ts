/** Owns how a page of tools is read, and what of a call's arguments is mirrored into headers. No I/O. */
import { InvalidResponseError } from "../errors.js";
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";
import { readCompleteAnswer } from "./answer.js";
import { readTtl } from "./discover.js";
import { encodeHeaderValue } from "./headers.js";
import { headerAnnotations } from "./headerAnnotations.js";

/** A listed tool: the fields that the runtime reads, and all others as they came. */
export interface ToolDescription {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: {
    readonly readOnlyHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
    readonly title?: string;
  };
  readonly [key: string]: unknown;
}

/** One page of `tools/list`. */
export interface ToolsPage {
  tools: ToolDescription[];
  nextCursor?: string;
  /** How long the page may be kept, in milliseconds; null when the server did not say. */
  ttlMs: number | null;
  /** Tools that must not be called, and why. */
  dropped: { name: string; reason: string }[];
}

const HINTS = ["readOnlyHint", "idempotentHint", "destructiveHint", "openWorldHint"] as const;

/**
 * Reads the answer to `tools/list`. Tools without a usable name or input schema, or with invalid `x-mcp-header`
 * annotations, are left out and named in `dropped`. Throws `InvalidResponseError` when there is no list.
 */
export function readToolsPage(raw: JsonObject): ToolsPage {
  const answer = readCompleteAnswer(raw, "tools/list");
  const listed = answer["tools"];
  if (!Array.isArray(listed)) throw new InvalidResponseError("tools: expected an array");
  const page: ToolsPage = { tools: [], ttlMs: readTtl(answer["ttlMs"]), dropped: [] };
  for (const item of listed as unknown[]) {
    const tool = readTool(item);
    if ("reason" in tool) page.dropped.push(tool);
    else page.tools.push(tool.tool);
  }
  const { nextCursor } = answer;
  return typeof nextCursor === "string" ? { ...page, nextCursor } : page;
}

/**
 * The `Mcp-Param-*` headers of a call: for each annotated property, the argument at exactly its path. Null, absent
 * and structured arguments give no header; nor does a tool with invalid annotations.
 */
export function mirroredHeaders(tool: ToolDescription, args: JsonObject): Record<string, string> {
  const { annotations, problem } = headerAnnotations(tool.inputSchema);
  if (problem !== undefined) return {};
  const headers: Record<string, string> = {};
  for (const { header, path } of annotations) {
    const text = headerText(valueAt(args, path));
    if (text !== undefined) headers[`Mcp-Param-${header}`] = encodeHeaderValue(text);
  }
  return headers;
}

function readTool(raw: unknown): { tool: ToolDescription } | { name: string; reason: string } {
  const name = isObject(raw) && typeof raw["name"] === "string" ? raw["name"] : "";
  if (!isObject(raw) || name === "") return { name, reason: "name: expected a non-empty string" };
  const schema = raw["inputSchema"];
  if (!isObject(schema)) return { name, reason: "inputSchema: expected an object" };
  const { problem } = headerAnnotations(schema);
  if (problem !== undefined) return { name, reason: problem };
  const { annotations, ...rest } = raw;
  const hints = readHints(annotations);
  return { tool: { ...rest, ...(hints !== undefined && { annotations: hints }) } as ToolDescription };
}

/** Hints decide whether a call may be repeated: anything but a real boolean counts as not said. */
function readHints(annotations: unknown): Record<string, unknown> | undefined {
  if (!isObject(annotations)) return undefined;
  const hints = { ...annotations };
  for (const hint of HINTS) if (typeof hints[hint] !== "boolean") delete hints[hint];
  return hints;
}

function valueAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function headerText(value: JsonValue | undefined): string | undefined {
  switch (typeof value) {
    case "string":
      return value;
    case "boolean":
      return String(value);
    case "number":
      // BigInt writes all digits where String would switch to an exponent.
      return Number.isInteger(value) ? BigInt(value).toString() : undefined;
    default:
      return undefined;
  }
}
