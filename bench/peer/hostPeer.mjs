/**
 * Owns the host program over the official client and its tasks package; the lines between the marks are counted.
 * Copied beside the installed packages before it runs. It must do what hostOurs.mjs does, and no more.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, SdkHttpError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  DispatchError,
  resultFromTaskOutcome,
} from "@modelcontextprotocol/ext-tasks/client";

// <host>
const PROTOCOL_VERSION = "2026-07-28";
const clientInfo = { name: "host", version: "1.0.0" };
const clientCapabilities = {
  elicitation: { form: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

export async function host({ url, folder, name, args, timeoutMs, askPerson, use, report, hold }) {
  const client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: { pin: PROTOCOL_VERSION } },
  });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const session = createTaskSessionFromClient(client, {
    endpointId: "server",
    rawDispatch: coordinator(transport),
    v2RequestFraming: { protocolVersion: PROTOCOL_VERSION, clientInfo, clientCapabilities },
    onInputRequest: async (request, { signal }) => {
      if (request.kind !== "elicitation") throw new Error("not supported");
      return { action: "accept", content: await askPerson(request.params.message, signal) };
    },
    onError: (error) => console.error(error),
  });
  try {
    const file = join(folder, "reference.json");
    const execution = existsSync(file)
      ? await session.resumeTask(JSON.parse(readFileSync(file, "utf8")))
      : await session.callTool(name, args, { requestTimeoutMs: timeoutMs });
    if (execution.kind === "task") writeFileSync(file, JSON.stringify(execution.serializeReference()));
    const { outcome } = await execution.settle();
    use(resultFromTaskOutcome(outcome));
  } catch (error) {
    report(error);
  } finally {
    await hold();
    await session.close();
    await client.close();
  }
}

// <transport>
/** Requests with ids of their own on the client's transport, beside the client's. */
function coordinator(transport) {
  const waiting = new Map();
  const toClient = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const answer = "method" in message ? undefined : waiting.get(message.id);
    if (answer === undefined) toClient?.(message, extra);
    else answer(message);
  };
  let count = 0;
  return async ({ method, params }, { signal, context = {} } = {}) => {
    const id = `task-request-${(count += 1)}`;
    const timeout = AbortSignal.timeout(context.requestTimeoutMs ?? 60_000);
    const requestSignal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    try {
      const message = await new Promise((resolve, reject) => {
        waiting.set(id, resolve);
        requestSignal.addEventListener("abort", () => reject(requestSignal.reason), { once: true });
        const onRequestStreamEnd = () => reject(new TypeError("The stream ended without an answer"));
        const options = { headers: context.headers, requestSignal, onRequestStreamEnd };
        transport.send({ jsonrpc: "2.0", id, method, params }, options).catch(reject);
      });
      return "error" in message
        ? { kind: "error", error: message.error }
        : { kind: "result", result: message.result };
    } catch (cause) {
      signal?.throwIfAborted();
      const again = cause instanceof SdkHttpError ? isTransient(cause.status) : true;
      throw new DispatchError("The request failed", again && method !== "tools/call", { cause });
    } finally {
      waiting.delete(id);
    }
  };
}

function isTransient(status) {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
// </transport>
// </host>
