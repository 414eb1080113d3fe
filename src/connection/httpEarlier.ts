/**
 * Owns that a server of an earlier revision is spoken to all the same: over the same URL, by the official SDK's client
 * of that time. It decides nothing about requests that a server of our revision has answered.
 */
import { ClientClosedError, ConnectionError, EraNotSupportedError } from "../errors.js";
import { isObject, type JsonObject } from "../internal/json.js";
import type { ClientCapabilities } from "../protocol/index.js";
import { mergeHeaders, type FetchInit, type HttpSettings } from "./httpOptions.js";
import { sdkConnection } from "./sdk/sdkConnection.js";
import type { Connection, ListenOptions, RequestOptions } from "./types.js";

/** How long a server that wants no `initialize` either is not asked for it again. */
const ASK_AGAIN_MS = 30_000;

type Who = Pick<RequestOptions, "clientInfo" | "capabilities">;

interface Earlier {
  readonly connection: Connection;
  close(): Promise<void>;
}

/**
 * The connection, and the other one beneath it once the server has turned our revision away: a request that was refused
 * so has not run, and goes out again there. Where that way leads nowhere either, the `EraNotSupportedError` stands.
 */
export function withEarlierRevisions(modern: Connection, settings: HttpSettings): Connection {
  const { clock } = settings;
  let opening: Promise<Earlier> | undefined;
  let opened: Earlier | undefined;
  let askAgainAt = -Infinity;
  let closed = false;

  async function over<Answer>(who: Who, ask: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    if (opened !== undefined) return ask(opened.connection);
    try {
      return await ask(modern);
    } catch (error) {
      if (!(error instanceof EraNotSupportedError) || clock.monotonic() < askAgainAt) throw error;
      return ask((await earlier(who, error)).connection);
    }
  }

  async function earlier(who: Who, refusal: EraNotSupportedError): Promise<Earlier> {
    opening ??= open(who, settings).finally(() => (opening = undefined));
    try {
      const found = await opening;
      if (closed) {
        await found.close();
        throw new ClientClosedError();
      }
      opened = found;
      return found;
    } catch (error) {
      if (closed) throw new ClientClosedError();
      // Out of reach now says nothing about the revision; any other answer says that there is no session to be had.
      if (error instanceof ConnectionError) throw error;
      askAgainAt = clock.monotonic() + ASK_AGAIN_MS;
      throw refusal;
    }
  }

  return {
    identity: modern.identity,
    request: (method, params, options: RequestOptions) =>
      over(options, (connection) => connection.request(method, params, options)),
    discover: (options) => over(options, (connection) => connection.discover(options)),
    listen: (taskIds, options: ListenOptions) =>
      over(options, async (connection) => connection.listen?.(taskIds, options)),
    async close() {
      closed = true;
      await modern.close();
      await opened?.close();
    },
  };
}

async function open({ clientInfo, capabilities }: Who, settings: HttpSettings): Promise<Earlier> {
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
  const seen: { failure?: unknown } = {};

  async function connect(): Promise<void> {
    const transport = new StreamableHTTPClientTransport(new URL(settings.url), { fetch });
    await client.connect(transport, { timeout: Math.min(settings.timeoutMs, MAX_CONNECT_MS) });
  }
  /** The host's own fetch and headers, asked for every request as ever. */
  async function fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = mergeHeaders(Object.fromEntries(new Headers(init.headers)), await settings.headers());
    try {
      const answer = await settings.fetch(String(url), { ...init, headers } as FetchInit);
      return answer as Response;
    } catch (error) {
      seen.failure = error;
      throw error;
    }
  }

  try {
    await connect();
  } catch (error) {
    await client.close().catch(() => undefined);
    if (!("failure" in seen)) throw error;
    throw new ConnectionError("The server could not be reached", { mayHaveRun: false, cause: seen.failure });
  }
  const connection = sdkConnection(client, {
    identity: settings.identity,
    timeoutMs: settings.timeoutMs,
    clock: settings.clock,
    async reconnect() {
      await client.close();
      await connect();
    },
  });
  return {
    connection,
    async close() {
      await connection.close();
      await client.close();
    },
  };
}

const MAX_CONNECT_MS = 60_000;

/** What a session declares once for all: the kinds of questions. Extensions are of our revision only. */
function inputsOf(capabilities: ClientCapabilities): JsonObject {
  const { elicitation, sampling, roots } = capabilities;
  return {
    ...(isObject(elicitation) && { elicitation }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(roots) && { roots }),
  };
}
