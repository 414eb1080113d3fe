/** Owns what the table asks of one client process, and what that process tells. No code. */
import type { JsonObject } from "mcp-taskrail";

/** How the package reaches the server. */
export type ClientKind = "httpConnection" | "sdk 1.x" | "sdk 2.x" | "withTasks 1.x" | "withTasks 2.x";

/** Where the server is. */
export type Endpoint =
  | { readonly kind: "http"; readonly url: string }
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
    };

/** One call in one client process. */
export interface Job {
  readonly client: ClientKind;
  readonly endpoint: Endpoint;
  /** Which revision a client of the 2.x SDK negotiates: the newest that the server speaks, or the earlier one. */
  readonly negotiation: "auto" | "legacy";
  readonly tool: string;
  readonly arguments: JsonObject;
  /** What questions are answered with. Absent: there is no handler, and nothing is declared. */
  readonly answer?: JsonObject;
  /** Cancel as soon as there is a task that is being worked on. */
  readonly cancel?: boolean;
  /** A folder for an lmdb store. Absent: memory. */
  readonly store?: string;
  readonly callId?: string;
}

/** What the process prints, one JSON text a line. */
export type Told =
  | { readonly tell: "created" }
  | { readonly tell: "question"; readonly kind: string }
  | { readonly tell: "push"; readonly state: string }
  | { readonly tell: "trouble"; readonly what: string }
  | { readonly tell: "progress" }
  /** The package cannot do this at all. */
  | { readonly tell: "impossible"; readonly why: string }
  | { readonly tell: "ended"; readonly status: string; readonly text: string };
