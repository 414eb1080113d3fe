/**
 * Owns one session of 2025-11-25 over HTTP: the official SDK's client of that time on the host's own fetch, headers and
 * limits. It does not decide whether there is to be one.
 */
import { ConnectionError } from "../errors.js";
import { isObject, type JsonObject } from "../internal/json.js";
import type { ClientCapabilities } from "../protocol/index.js";
import { limitedBody } from "./body.js";
import { readRetryAfter } from "./failures.js";
import { ERA_STATUSES, isEventStream } from "./httpAnswer.js";
import { mergeHeaders, type FetchInit, type HttpSettings, type ResponseLike } from "./httpOptions.js";
import { sdkConnection } from "./sdk/sdkConnection.js";
import type { Connection, RequestOptions } from "./types.js";

/** Who asks. */
export type Who = Pick<RequestOptions, "clientInfo" | "capabilities">;

/** A session that goes on by itself when the server forgets it. */
export interface HttpSession {
  readonly connection: Connection;
  /** True while the server turns the session away, or its requests: it may speak our revision by now. */
  readonly isDoubted: boolean;
  close(): Promise<void>;
}

/** So many requests turned away in a row put the session in doubt. */
const REFUSALS_TO_DOUBT = 2;

/** Opens a session, unless the signal ends that first. Rejects with `ConnectionError` where the server could not be asked, and otherwise where it wants none. */
export async function openSession(
  { clientInfo, capabilities }: Who,
  settings: HttpSettings,
  signal: AbortSignal,
): Promise<HttpSession> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  const { name, version, title } = clientInfo;
  const client = new Client(
    { name, version, ...(title !== undefined && { title }) },
    { capabilities: inputsOf(capabilities) },
  );
  // Failed sends reject where they were sent.
  client.onerror = () => undefined;
  const seen: { failure?: unknown; refused?: Refused | undefined } = {};
  let refusals = 0;

  async function connect(): Promise<void> {
    const transport = new StreamableHTTPClientTransport(new URL(settings.url), { fetch });
    await client.connect(transport, { timeout: Math.min(settings.timeoutMs, MAX_CONNECT_MS) });
  }
  /** The host's own fetch and headers, asked for every request as ever. */
  async function fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = mergeHeaders(Object.fromEntries(new Headers(init.headers)), await settings.headers());
    try {
      const answer = await settings.fetch(String(url), { ...init, headers } as FetchInit);
      if (init.method === "POST") note(answer);
      return limited(answer, settings.maxResponseBytes);
    } catch (error) {
      seen.failure = error;
      throw error;
    }
  }

  function note({ status, headers }: ResponseLike): void {
    const isRefused = status >= 300;
    seen.refused = isRefused
      ? { status, retryAfterMs: readRetryAfter(headers, settings.clock.now()) }
      : undefined;
    // A session that is not known (404) is opened anew first.
    if (!isRefused) refusals = 0;
    else if (status !== 404 && ERA_STATUSES.has(status)) refusals += 1;
  }

  // What still waits for an answer would keep the process alive.
  const giveUp = (): void => void client.close().catch(() => undefined);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await connect();
  } catch (error) {
    await client.close().catch(() => undefined);
    if ("failure" in seen) {
      const cause = seen.failure;
      throw new ConnectionError("The server could not be reached", { mayHaveRun: false, cause });
    }
    const { refused } = seen;
    if (refused === undefined || ERA_STATUSES.has(refused.status)) throw error;
    // In trouble, or behind a gate: that says nothing about the revision.
    throw new ConnectionError(`HTTP ${refused.status} from the server`, { ...refused, mayHaveRun: false });
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
  const connection = sdkConnection(client, {
    identity: settings.identity,
    timeoutMs: settings.timeoutMs,
    clock: settings.clock,
    async reconnect() {
      await client.close();
      try {
        await connect();
      } catch (error) {
        if (seen.refused !== undefined && ERA_STATUSES.has(seen.refused.status)) refusals = REFUSALS_TO_DOUBT;
        throw error;
      }
    },
  });
  return {
    connection,
    get isDoubted() {
      return refusals >= REFUSALS_TO_DOUBT;
    },
    async close() {
      await connection.close();
      await client.close();
    },
  };
}

const MAX_CONNECT_MS = 60_000;

interface Refused {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** The SDK's client reads whatever comes: the limit is kept before it. */
function limited(answer: ResponseLike, maxBytes: number): Response {
  const { body, status } = answer;
  const response = answer as Response;
  if (body === null || status < 200) return response;
  const each = isEventStream(answer) ? "event" : "body";
  return new Response(limitedBody(body, { maxBytes, each }), { status, headers: response.headers });
}

/** What a session declares once for all: the kinds of questions. Extensions are of our revision only. */
function inputsOf(capabilities: ClientCapabilities): JsonObject {
  const { elicitation, sampling, roots } = capabilities;
  return {
    ...(isObject(elicitation) && { elicitation }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(roots) && { roots }),
  };
}
