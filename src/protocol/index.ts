/** The wire words that the rest of the package uses. No I/O anywhere below. */
import type { JsonObject } from "../internal/json.js";

export * from "./constants.js";

/** Who asks: `io.modelcontextprotocol/clientInfo`. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** What a request declares: `io.modelcontextprotocol/clientCapabilities`. */
export type ClientCapabilities = JsonObject;

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
