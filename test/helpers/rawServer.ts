/** Owns starting the scripted HTTP server in a process of its own, and talking to it. It checks nothing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A part of a body. `{{id}}` in a text stands for the request's JSON-RPC id. */
export type Step =
  | { text: string }
  | { base64: string }
  | { everyByte: string }
  /** Waits until the test calls `release` with that name. */
  | { gate: string }
  | { repeat: { text: string; perWrite?: number; writes: number } }
  | { destroy: true }
  | { hang: true };

/** One answer; a path's answers are given in order, the last one again and again. */
export interface ScriptedResponse {
  status?: number;
  headers?: Record<string, string>;
  steps?: readonly Step[];
  /** Closes the connection instead of answering. */
  destroy?: true;
  /** Answers with -32020 unless the headers fit the body; header suffix -> path of the argument. */
  strict?: Record<string, readonly string[]>;
  /** Given whenever the request has that header, or that text in its body. */
  ifHeader?: { name: string; value: string };
  ifBody?: string;
}

/** A request as it came. */
export interface LoggedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  /** True when the client left before the answer's end. */
  closed: boolean;
}

export interface RawServer {
  origin: string;
  /** The same server under another origin. */
  otherOrigin: string;
  /** Scripts a path and answers its URL. */
  script(path: string, ...responses: ScriptedResponse[]): Promise<string>;
  log(path: string): Promise<LoggedRequest[]>;
  release(gate: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startRawServer(): Promise<RawServer> {
  const script = fileURLToPath(new URL("rawServer.mjs", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const [origin, otherOrigin] = (JSON.parse(line) as number[]).map((port) => `http://127.0.0.1:${port}`);
  if (origin === undefined || otherOrigin === undefined) throw new Error("the server named no ports");
  const control = async (action: string, name: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? { method: "POST" } : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${origin}/control/${action}${name}`, init);
    return response.json();
  };
  return {
    origin,
    otherOrigin,
    async script(path, ...responses) {
      await control("script", path, responses);
      return `${origin}${path}`;
    },
    log: async (path) => (await control("log", path)) as LoggedRequest[],
    async release(gate) {
      await control("release", `/${gate}`);
    },
    async stop() {
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}
