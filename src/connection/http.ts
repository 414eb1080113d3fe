/**
 * Owns the stateless Streamable HTTP of 2026-07-28: one POST per request. It sends each request once, and keeps no
 * credential, no session and no task.
 */
import { ClientClosedError, ConnectionError } from "../errors.js";
import type { JsonObject } from "../internal/json.js";
import {
  mirroredHeaders,
  PROTOCOL_VERSION,
  readDescription,
  requestHeaders,
  withEnvelope,
  type ServerDescription,
} from "../protocol/index.js";
import { discardBody } from "./body.js";
import { fetchFailure } from "./failures.js";
import { readAnswer } from "./httpAnswer.js";
import {
  mergeHeaders,
  readHttpOptions,
  readTimeout,
  type FetchInit,
  type HttpConnectionOptions,
  type ResponseLike,
} from "./httpOptions.js";
import { startLifetime, type Lifetime } from "./lifetime.js";
import { eraError, rpcError } from "./rpc.js";
import type { Connection, RequestOptions } from "./types.js";

const MAX_REDIRECTS = 5;

/** A request on its way. */
interface Outgoing {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  readonly lifetime: Lifetime;
}

/**
 * A server that speaks MCP 2026-07-28 over HTTP. Nothing is sent before the first request.
 *
 * Credentials come by `headers` or by a `fetch` that adds them, and go to the URL's own origin only: redirects (307
 * and 308) are followed within it and refused elsewhere. Throws `TypeError` naming the option for unusable options,
 * and for a URL that is not http(s) or holds a user name or password.
 */
export function httpConnection(url: string | URL, options: HttpConnectionOptions = {}): Connection {
  const settings = readHttpOptions(url, options);
  const { clock } = settings;
  const living = new Set<Lifetime>();
  let closed = false;
  let modern = false;
  let lastId = 0;
  let described: { description: ServerDescription; untilMs: number } | undefined;

  return {
    identity: settings.identity,

    request,

    async discover(requestOptions) {
      if (closed) throw new ClientClosedError();
      if (described && clock.monotonic() < described.untilMs) return described.description;
      const description = readDescription(await request("server/discover", {}, requestOptions));
      const { supportedVersions, ttlMs } = description;
      if (supportedVersions.length > 0 && !supportedVersions.includes(PROTOCOL_VERSION)) {
        throw eraError(supportedVersions);
      }
      described = { description, untilMs: clock.monotonic() + (ttlMs ?? 0) };
      return description;
    },

    async close() {
      closed = true;
      for (const lifetime of living) lifetime.abort(new ClientClosedError());
    },
  };

  async function request(
    method: string,
    params: JsonObject,
    requestOptions: RequestOptions,
  ): Promise<JsonObject> {
    if (closed) throw new ClientClosedError();
    requestOptions.signal?.throwIfAborted();
    const timeoutMs = readTimeout(requestOptions.timeoutMs ?? settings.timeoutMs);
    const lifetime = startLifetime({ clock, timeoutMs, signal: requestOptions.signal });
    living.add(lifetime);
    lastId += 1;
    let answered = false;
    try {
      const result = await exchange({
        id: `mcp-taskrail-${lastId}`,
        method,
        params,
        options: requestOptions,
        lifetime,
      });
      answered = true;
      return result;
    } catch (error) {
      // Whatever broke because the request was stopped, the reason is why.
      throw lifetime.signal.aborted ? lifetime.signal.reason : error;
    } finally {
      living.delete(lifetime);
      lifetime.end(answered);
    }
  }

  async function exchange(outgoing: Outgoing): Promise<JsonObject> {
    const { id, method, params, lifetime } = outgoing;
    const host = await hostHeaders(outgoing.options, lifetime);
    const credentials = credentialsOf(host);
    const response = await post(prepare(outgoing, host), lifetime);
    const answer = await lifetime.race(
      readAnswer(response, {
        id,
        method,
        params,
        credentials,
        maxBytes: settings.maxResponseBytes,
        signal: lifetime.signal,
        nowMs: clock.now(),
        modern,
        onNotice(notice) {
          if (notice.method === "notifications/progress") lifetime.touch();
          outgoing.options.onNotice?.(notice);
        },
      }),
    );
    if (answer.kind === "error") {
      const error = rpcError(answer.error, { method, params, credentials, status: response.status });
      modern ||= answer.addressed && error.code !== "ERA_NOT_SUPPORTED";
      throw error;
    }
    if (answer.kind !== "result") throw new TypeError(`unexpected ${answer.kind}`);
    modern = true;
    return answer.result;
  }

  function prepare(
    { id, method, params, options, lifetime }: Outgoing,
    host: Readonly<Record<string, string>>,
  ): FetchInit {
    const { clientInfo, capabilities } = options;
    const tool = method === "tools/call" ? options.tool : undefined;
    const args = (params["arguments"] ?? {}) as JsonObject;
    // Servers report progress only to those who ask, and progress keeps the request alive.
    const wantsProgress = method === "tools/call" || options.onNotice !== undefined;
    const meta = { ...(wantsProgress && { progressToken: id }), ...options.meta };
    const message = {
      jsonrpc: "2.0",
      id,
      method,
      params: withEnvelope(params, { clientInfo, capabilities, meta }),
    };
    return {
      method: "POST",
      headers: mergeHeaders(host, {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...requestHeaders(method, params),
        ...(tool && mirroredHeaders(tool, args)),
      }),
      body: JSON.stringify(message),
      redirect: "manual",
      signal: lifetime.signal,
    };
  }

  async function hostHeaders(options: RequestOptions, lifetime: Lifetime): Promise<Record<string, string>> {
    try {
      return mergeHeaders(await lifetime.race(settings.headers()), options.headers);
    } catch (error) {
      lifetime.signal.throwIfAborted();
      throw new ConnectionError("The headers for the request could not be had", {
        mayHaveRun: false,
        cause: error,
      });
    }
  }

  async function post(init: FetchInit, lifetime: Lifetime): Promise<ResponseLike> {
    let target = settings.url;
    for (let redirects = 0; ; redirects += 1) {
      const response = await send(target, init, lifetime);
      const { status } = response;
      if (response.type !== "opaqueredirect" && (status < 300 || status > 399)) return response;
      discardBody(response.body);
      target = redirectTarget(response, target, redirects);
    }
  }

  async function send(target: URL, init: FetchInit, lifetime: Lifetime): Promise<ResponseLike> {
    lifetime.markSent();
    const responding = (async () => settings.fetch(target.href, init))();
    // A fetch that ignores its signal may still answer: nobody would read that body.
    responding.then(
      (late) => lifetime.signal.aborted && discardBody(late.body),
      () => undefined,
    );
    try {
      return await lifetime.race(responding);
    } catch (error) {
      lifetime.signal.throwIfAborted();
      throw fetchFailure(error);
    }
  }
}

/** What of the host's headers may be a secret: every word that is long enough to be one, less the scheme's name. */
function credentialsOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.values(headers).flatMap((value) => value.split(/[\s,;]+/).filter((word) => word.length >= 8));
}

/** Where to send the same request again. Throws `ConnectionError` for a redirect that must not be followed. */
function redirectTarget(response: ResponseLike, from: URL, redirects: number): URL {
  const { status } = response;
  const refuse = (why: string): never => {
    throw new ConnectionError(`The server redirects (HTTP ${status}), ${why}`, { status, mayHaveRun: true });
  };
  // Browsers hide where a redirect leads.
  if (response.type === "opaqueredirect") refuse("which cannot be followed here: use the final URL");
  if (status !== 307 && status !== 308) refuse("with a status that does not repeat a POST");
  if (redirects >= MAX_REDIRECTS) refuse(`more than ${MAX_REDIRECTS} times`);
  const location = response.headers.get("location");
  if (location === null || !URL.canParse(location, from.href)) return refuse("but does not say where to");
  const target = new URL(location, from.href);
  if (target.origin !== from.origin) refuse("to another origin, where the credentials must not go");
  if (target.username !== "" || target.password !== "") refuse("to a URL with a user name or password");
  return target;
}
