/** Owns where `x-mcp-header` may stand in an input schema, and what it may say. It reads no arguments. */
import { isObject } from "../internal/json.js";

/** One annotated property. */
export interface HeaderAnnotation {
  /** What follows `Mcp-Param-`. */
  readonly header: string;
  /** Property names from the root of the arguments. */
  readonly path: readonly string[];
}

const KEY = "x-mcp-header";
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Keywords that hold data, not schemas: an `x-mcp-header` in there annotates nothing. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  "default",
  "const",
  "enum",
  "examples",
  "required",
  "type",
]);
/** Keywords that hold named schemas: their members' names are no keywords. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const MAX_DEPTH = 64;

/** All annotations of an input schema, or the first reason why the tool is invalid. */
export function headerAnnotations(inputSchema: Readonly<Record<string, unknown>>): {
  annotations: readonly HeaderAnnotation[];
  problem: string | undefined;
} {
  const annotations: HeaderAnnotation[] = [];
  const seen = new Set<string>();

  /** `path` is undefined where the schema is not reached by properties alone. */
  function visit(schema: unknown, path: readonly string[] | undefined, depth: number): string | undefined {
    if (!isObject(schema)) return undefined;
    if (depth > MAX_DEPTH) return `inputSchema is nested deeper than ${MAX_DEPTH} levels`;
    if (Object.hasOwn(schema, KEY)) {
      const problem = note(schema, path);
      if (problem !== undefined) return problem;
    }
    return first(Object.entries(schema), ([keyword, value]) => {
      if (keyword === KEY || DATA_KEYWORDS.has(keyword)) return undefined;
      if (keyword === "properties" && isObject(value)) {
        return first(Object.entries(value), ([name, child]) =>
          visit(child, path && [...path, name], depth + 1),
        );
      }
      if (NAMED_SCHEMAS.has(keyword) && isObject(value)) {
        return first(Object.values(value), (child) => visit(child, undefined, depth + 1));
      }
      return first(Array.isArray(value) ? value : [value], (child) => visit(child, undefined, depth + 1));
    });
  }

  function note(
    schema: Readonly<Record<string, unknown>>,
    path: readonly string[] | undefined,
  ): string | undefined {
    const header = schema[KEY];
    if (path === undefined || path.length === 0) return `${KEY} stands where no property is reached by name`;
    if (typeof header !== "string" || !TOKEN.test(header)) return `${KEY} is not a header token`;
    if (!TYPES.has(schema["type"]))
      return `${KEY} stands on a property that is not a string, integer or boolean`;
    if (seen.has(header.toLowerCase())) return `${KEY} names one header twice`;
    seen.add(header.toLowerCase());
    annotations.push({ header, path });
    return undefined;
  }

  return { annotations, problem: visit(inputSchema, [], 0) };
}

function first<T>(items: readonly T[], reason: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = reason(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
