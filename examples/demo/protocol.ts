/** Owns what the demo's processes share: the three calls, and the messages between the screen and the worker. No I/O. */

/** The name under which the worker knows the server. */
export const SERVER = "demo";

/** What the worker is asked to do, in both of its lives. The name is the `callId`. */
export const CALLS = [
  { name: "report", arguments: { steps: 14, stepMs: 700 } },
  { name: "deploy", arguments: { env: "prod", ms: 9000, afterMs: 2000 } },
  { name: "crawl", arguments: { pages: 24, stepMs: 450 } },
] as const;

export type CallName = (typeof CALLS)[number]["name"];

/** What a worker is started with, as its first argument. */
export interface WorkerSettings {
  readonly url: string;
  readonly folder: string;
}

/** From the worker to the screen. Texts are the server's, unescaped. */
export type FromWorker =
  | { readonly type: "connected"; readonly resumed: readonly string[] }
  | {
      readonly type: "status";
      readonly name: CallName;
      readonly status: string;
      readonly text: string | undefined;
    }
  | { readonly type: "ask"; readonly name: string; readonly server: string; readonly message: string }
  | { readonly type: "result"; readonly name: CallName; readonly text: string }
  | { readonly type: "trouble"; readonly text: string }
  | { readonly type: "done" };

/** From the screen to the worker: the person's answer. */
export interface ToWorker {
  readonly type: "answer";
  readonly approve: boolean;
}
