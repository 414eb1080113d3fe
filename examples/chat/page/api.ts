/** Owns the page's requests to its host, but for the tasks. It keeps nothing. */
import type { JsonObject } from "mcp-taskrail";
import type { ChatBody, ConversationBody, SessionBody } from "../messages.js";

export const getSession = (): Promise<SessionBody> => request("/api/session");
export const signIn = (actor: string | null): Promise<SessionBody> => request("/api/session", { actor });
export const getConversation = (): Promise<ConversationBody> => request("/api/conversation");
export const postMessage = (message: ChatBody): Promise<ConversationBody> => request("/api/chat", message);
/** Has the host's model answer a server's sampling request; a person reviews it before it goes back. */
export const askModel = (params: JsonObject, signal: AbortSignal): Promise<JsonObject> =>
  request("/api/model", params, signal);

async function request<Body>(path: string, body?: object, signal?: AbortSignal): Promise<Body> {
  const response = await fetch(
    path,
    body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
          signal: signal ?? null,
        },
  );
  if (!response.ok) throw new Error(`The host answered ${response.status}`);
  return (await response.json()) as Body;
}
