/** Owns the approvals handler: one function from a request to its answer. It decides nothing about tasks, and lets nobody in by itself. */
import type { TaskClient } from "../client/taskClient.js";
import type { TaskHandle } from "../client/taskHandle.js";
import { ClientClosedError, InvalidInputResponseError } from "../errors.js";
import { runGuarded } from "../internal/guard.js";
import { isObject } from "../internal/json.js";
import { answerBody, cancelTask, createAnswerTaker } from "./answerRoute.js";
import { createFeed, type Feed } from "./feed.js";
import { openStream } from "./feedStream.js";
import {
  checkSource,
  handlerSettings,
  isClient,
  type ApprovalsHandlerOptions,
  type Principal,
  type TasksSource,
} from "./handlerOptions.js";
import { FIXED, jsonResponse, Refusal, refusalOf, refusalResponse } from "./refusal.js";
import {
  allowOf,
  checkContentType,
  checkedId,
  checkOrigin,
  idOf,
  isAllowed,
  readBody,
  routeOf,
  type Route,
} from "./requestChecks.js";
import { snapshotOf } from "./snapshot.js";
import { detailOf, type ViewOptions } from "./views.js";

/** The function that `approvalsHandler` makes. */
export type ApprovalsHandler = (request: Request) => Promise<Response>;

/** What is known of a request once it is let in. */
interface Admitted {
  readonly request: Request;
  readonly url: URL;
  readonly client: TaskClient;
  readonly scope: string;
  readonly actor: string;
}

/**
 * Serves a person's calls to a page: `GET tasks`, `GET task?id=`, `GET events` (server-sent events), `POST answer`,
 * `POST cancel`, below whatever path it is mounted at. `tasks`: the client of the one scope there is, or a function
 * that finds the client of a scope (undefined: refused). Never rejects; what goes wrong in the host's own functions is
 * answered as 500 and told to `onError`. Throws `TypeError` that names a wrong option; `authorize` is required.
 */
export function approvalsHandler(tasks: TasksSource, options: ApprovalsHandlerOptions): ApprovalsHandler {
  checkSource(tasks);
  const settings = handlerSettings(options);
  const { clock, maxTasks } = settings;
  const answers = createAnswerTaker();
  const feeds = new WeakMap<TaskClient, Feed>();
  let contextFailed = false;
  const views: ViewOptions = {
    context: settings.context,
    onError(error) {
      // Of every call in every list it would be the same.
      if (!contextFailed) tell(error);
      contextFailed = true;
    },
  };

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const route = routeOf(url);
    if (request.method === "OPTIONS")
      return new Response(null, { status: 204, headers: { ...FIXED, allow: allowOf(route) } });
    if (!isAllowed(route, request.method)) {
      const refusal = new Refusal("method-not-allowed", `Another method is meant: ${allowOf(route)}`);
      return refusalResponse(refusal, { allow: allowOf(route) });
    }
    checkOrigin(request, url, settings.origins);
    if (request.method === "POST") checkContentType(request);
    const allowed = await settings.authorize(request);
    if (allowed instanceof Response) return allowed;
    const { scope, actor } = checkedPrincipal(allowed);
    return routes[route]({ request, url, scope, actor, client: await clientOf(scope) });
  }

  /** Never rejects. */
  async function isAllowedAgain(request: Request, scope: string): Promise<boolean> {
    try {
      const allowed = await settings.authorize(request);
      return !(allowed instanceof Response) && checkedPrincipal(allowed).scope === scope;
    } catch (error) {
      if (refusalOf(error).told) tell(error);
      return false;
    }
  }

  async function clientOf(scope: string): Promise<TaskClient> {
    const client = typeof tasks === "function" ? await tasks(scope) : tasks;
    if (client === undefined || client === null) throw notYours();
    if (!isClient(client)) throw new TypeError("tasks: answered neither a TaskClient nor undefined");
    if (client.scope !== scope) {
      if (typeof tasks !== "function") throw notYours();
      throw new TypeError("tasks: answered the TaskClient of another scope");
    }
    if (client.closing.aborted) throw new ClientClosedError();
    return client;
  }

  const routes: Readonly<Record<Route, (admitted: Admitted) => Promise<Response>>> = {
    async tasks({ client }) {
      return jsonResponse(200, await snapshotOf(client, { clock, maxTasks, views }));
    },
    async task({ client, url }) {
      return jsonResponse(200, detailOf(await found(client, idOf(url)), views));
    },
    async events({ client, request, scope }) {
      const headers = { "content-type": "text/event-stream", ...FIXED, ...STREAM_HEADERS };
      if (request.method === "HEAD") return new Response(null, { headers });
      const feed = feedOf(client);
      const isStillAllowed = () => isAllowedAgain(request, scope);
      const stream = await openStream(feed, { ...settings, isStillAllowed, signal: request.signal });
      return new Response(stream, { headers });
    },
    async answer({ client, request, scope, actor }) {
      const body = answerBody(await readBody(request, settings.maxBodyBytes));
      const handle = await found(client, body.id);
      try {
        return jsonResponse(200, await answers.answer(handle, body, { scope, actor }));
      } catch (error) {
        if (!(error instanceof InvalidInputResponseError)) throw error;
        throw new Refusal("invalid-answer", error.message, { field: error.field });
      } finally {
        feeds.get(client)?.mark(body.id);
      }
    },
    async cancel({ client, request }) {
      const { id } = await readBody(request, settings.maxBodyBytes);
      const handle = await found(client, checkedId(id, "The member id"));
      try {
        await cancelTask(handle, { clock, onError: tell });
        return jsonResponse(202, {});
      } finally {
        feeds.get(client)?.mark(handle.id);
      }
    },
  };

  function feedOf(client: TaskClient): Feed {
    const feed = feeds.get(client) ?? createFeed(client, { ...settings, views, onError: tell });
    feeds.set(client, feed);
    return feed;
  }

  function tell(error: unknown): void {
    const { onError } = settings;
    if (onError !== undefined)
      runGuarded(
        () => onError(error),
        () => undefined,
      );
  }

  return async (request) => {
    try {
      const response = await answer(request);
      return request.method === "HEAD" ? new Response(null, response) : response;
    } catch (error) {
      const { refusal, told } = refusalOf(error);
      if (told) tell(error);
      return refusalResponse(refusal);
    }
  };
}

const STREAM_HEADERS = {
  // Proxies that gather or compress would hold events back.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

async function found(client: TaskClient, id: string): Promise<TaskHandle> {
  const handle = await client.task(id);
  if (handle === undefined) throw new Refusal("not-found", "There is no such call");
  return handle;
}

/** Whatever is not clearly a principal is let in nowhere. */
function checkedPrincipal(allowed: unknown): Principal {
  if (allowed === undefined || allowed === null || allowed === false)
    throw new Refusal("forbidden", "The host refused");
  const { scope, actor } = isObject(allowed) ? allowed : {};
  if (
    typeof scope !== "string" ||
    scope === "" ||
    typeof actor !== "string" ||
    actor === "" ||
    actor.length > 256
  )
    throw new TypeError(
      "authorize: expected { scope, actor } (texts, the actor of up to 256 characters), a Response or nothing",
    );
  return { scope, actor };
}

function notYours(): Refusal {
  return new Refusal("forbidden", "There are no tasks for this person here");
}
