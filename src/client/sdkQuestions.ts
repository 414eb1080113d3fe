/** Owns that the handlers which a host registered on its SDK client answer the questions of tasks. It decides nothing for anybody. */
import type { InputRequestHandler, TaskInputRequest } from "../engine/types.js";
import { ClientGone, NoHandler, type SdkInterceptor } from "../connection/sdk/sdkInterceptor.js";
import { CallbackError } from "../errors.js";
import { sleep, type Clock } from "../internal/clock.js";
import type { JsonObject } from "../internal/json.js";

/** How long until a client that lost its transport is asked again. */
const RECONNECT_LOOK_MS = 500;

/**
 * An `onInputRequest` over the client's own handlers. A client without one for the kind leaves the question open; one
 * that loses its transport while its handler runs is asked again with its next.
 */
export function clientHandlers(
  interceptor: SdkInterceptor,
  clock: Clock,
  tellHost: (error: Error) => void,
): InputRequestHandler {
  return async (request) => {
    const { signal } = request;
    const wire = wireRequest(request);
    for (;;) {
      try {
        return await interceptor.dispatch({ ...wire, signal });
      } catch (error) {
        if (signal.aborted) return undefined;
        if (error instanceof NoHandler) {
          const what = "The client has no handler for a question of a task; it stays open";
          tellHost(new CallbackError(what, { cause: error }));
          return undefined;
        }
        if (!(error instanceof ClientGone)) throw error;
        await sleep(clock, RECONNECT_LOOK_MS, { signal }).catch(() => undefined);
      }
    }
  };
}

/** The question as the server's stand-alone request would have been. */
function wireRequest(request: TaskInputRequest): { method: string; params: JsonObject } {
  switch (request.kind) {
    case "elicitation-form": {
      const { message, requestedSchema } = request;
      return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
    }
    case "elicitation-url": {
      const { message, url, key } = request;
      // Earlier revisions want an id; the server's own, where it gave one.
      const elicitationId = request.elicitationId ?? key;
      return { method: "elicitation/create", params: { mode: "url", message, url, elicitationId } };
    }
    case "sampling":
      return { method: "sampling/createMessage", params: request.params as unknown as JsonObject };
    case "roots":
      return { method: "roots/list", params: {} };
  }
}
