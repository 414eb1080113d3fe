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
import { readRetryAfter } from "./failures.js";
import { readAnswer, type AnswerContext } from "./httpAnswer.js";
import { withEarlierRevisions } from "./httpEarlier.js";
import { readListenAnswer } from "./httpListen.js";
import {
  mergeHeaders,
  readHttpOptions,
  readTimeout,
  type FetchInit,
  type HttpConnectionOptions,
  type HttpSettings,
  type ResponseLike,
} from "./httpOptions.js";
import { post } from "./httpPost.js";
import { startLifetime, type Lifetime } from "./lifetime.js";
import { eraError, rpcError, type Incoming } from "./rpc.js";
import type { Connection, ListenOptions, RequestOptions } from "./types.js";

/** A request on its way. */
interface Outgoing {
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  readonly lifetime: Lifetime;
  readonly read: (response: ResponseLike, context: Omit<AnswerContext, "onNotice">) => Promise<Incoming>;
  /** Of the params: no error may show them. */
  readonly secrets: readonly string[];
}

/**
 * A server over HTTP. Nothing is sent before the first request. It is taken for one of 2026-07-28; where it turns that
 * revision away, and `earlier` is not `"never"`, for one of 2025-11-25, in a session of the official SDK's client.
 *
 * Credentials come by `headers` or by a `fetch` that adds them, and go to the URL's own origin only: redirects (307
 * and 308) are followed within it and refused elsewhere. Throws `TypeError` naming the option for unusable options,
 * and for a URL that is not http(s) or holds a user name or password.
 */
export function httpConnection(url: string | URL, options: HttpConnectionOptions = {}): Connection {
  const settings = readHttpOptions(url, options);
  const modern = statelessConnection(settings);
  return settings.earlier === "never" ? modern : withEarlierRevisions(modern, settings);
}

/** The stateless HTTP of 2026-07-28. */
function statelessConnection(settings: HttpSettings): Connection {
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

    listen,

    async close() {
      closed = true;
      for (const lifetime of living) lifetime.abort(new ClientClosedError());
    },
  };

  function request(method: string, params: JsonObject, requestOptions: RequestOptions): Promise<JsonObject> {
    return alive(
      { ...requestOptions, timeoutMs: requestOptions.timeoutMs ?? settings.timeoutMs },
      (lifetime) =>
        exchange({
          id: nextId(),
          method,
          params,
          options: requestOptions,
          lifetime,
          secrets: [],
          read: (response, context) =>
            readAnswer(response, {
              ...context,
              onNotice(notice) {
                if (notice.method === "notifications/progress") lifetime.touch();
                requestOptions.onNotice?.(notice);
              },
            }),
        }),
    );
  }

  async function listen(taskIds: readonly string[], listenOptions: ListenOptions): Promise<void> {
    const { clientInfo, capabilities, signal } = listenOptions;
    // Whoever listens has a watchdog of its own: a stream may live for hours.
    await alive({ signal, timeoutMs: Infinity }, (lifetime) =>
      exchange({
        id: nextId(),
        method: "subscriptions/listen",
        params: { notifications: { taskIds: [...taskIds] } },
        options: { clientInfo, capabilities },
        lifetime,
        secrets: taskIds,
        read: (response, context) =>
          readListenAnswer(response, {
            ...context,
            taskIds,
            told: {
              onAcknowledged(acknowledged) {
                modern = true;
                listenOptions.onAcknowledged(acknowledged);
              },
              onNotice: listenOptions.onNotice,
              onLife: listenOptions.onLife,
            },
          }),
      }),
    );
  }

  function nextId(): string {
    lastId += 1;
    return `mcp-taskrail-${lastId}`;
  }

  /** Runs a request for as long as its caller, its time limit and the connection let it. */
  async function alive<T>(
    limits: Pick<RequestOptions, "signal"> & { timeoutMs: number },
    run: (lifetime: Lifetime) => Promise<T>,
  ): Promise<T> {
    if (closed) throw new ClientClosedError();
    limits.signal?.throwIfAborted();
    const lifetime = startLifetime({
      clock,
      timeoutMs: readTimeout(limits.timeoutMs),
      signal: limits.signal,
    });
    living.add(lifetime);
    let answered = false;
    try {
      const result = await run(lifetime);
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
    const credentials = [...credentialsOf(host), ...outgoing.secrets];
    const response = await post(prepare(outgoing, host), { ...settings, lifetime });
    const answer = await lifetime.race(
      outgoing.read(response, {
        id,
        method,
        params,
        credentials,
        maxBytes: settings.maxResponseBytes,
        signal: lifetime.signal,
        nowMs: clock.now(),
        modern,
      }),
    );
    if (answer.kind === "error") {
      const { status, headers } = response;
      // A server in trouble may say when to come back beside an error of its own, not only a gateway.
      const retryAfterMs = status < 400 ? undefined : readRetryAfter(headers, clock.now());
      const error = rpcError(answer.error, { method, params, credentials, status, retryAfterMs });
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
}

/** What of the host's headers may be a secret: every word that is long enough to be one, less the scheme's name. */
function credentialsOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.values(headers).flatMap((value) => value.split(/[\s,;]+/).filter((word) => word.length >= 8));
}
