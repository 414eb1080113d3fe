/** Owns the control endpoint, by which a test in another process steers a server. Its client is in spawn.ts. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fault } from "./faults.js";
import type { TaskServer } from "./options.js";
import type { TestCounters, TestTask } from "./types.js";

export const CONTROL_PATH = "/__control";

/** What may be asked. */
export type ControlRequest =
  | { readonly op: "addFault"; readonly fault: Fault }
  | { readonly op: "clearFaults" }
  | { readonly op: "state" };

/** What is answered to everything. */
export interface ControlAnswer {
  readonly tasks: readonly TestTask[];
  readonly counters: TestCounters;
}

/** Does one thing and answers the state after it. */
export async function handleControl(
  req: IncomingMessage,
  res: ServerResponse,
  server: TaskServer,
): Promise<void> {
  let text = "";
  for await (const chunk of req as AsyncIterable<Buffer>) text += chunk.toString("utf8");
  const request = JSON.parse(text) as ControlRequest;
  if (request.op === "addFault") server.addFault(request.fault);
  if (request.op === "clearFaults") server.clearFaults();
  const answer: ControlAnswer = { tasks: server.tasks(), counters: server.counters() };
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}
