/** Owns what travels between the page and the host about the conversation itself. Types only; tasks have a seam of their own. */

/** One message. Texts of the assistant may hold what a server wrote: show them as text. */
export interface ChatMessage {
  /** Of a person's message: made by the page, so that sending it twice is harmless. */
  readonly id: string;
  readonly from: "person" | "assistant";
  /** Who wrote it, of a person's message. */
  readonly by?: string;
  readonly text: string;
  /** ISO text of the host's clock. */
  readonly at: string;
  /** Of an assistant's message that tells how a call ended: the call's local id. */
  readonly endOf?: string;
  readonly failed?: boolean;
}

/** The answer to `GET /api/conversation` and `POST /api/chat`. */
export interface ConversationBody {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
}

/** The body of `POST /api/chat`. */
export interface ChatBody {
  readonly id: string;
  readonly text: string;
}

/** The answer to `GET /api/session`: who is signed in, and who may be. */
export interface SessionBody {
  readonly actor: string | null;
  readonly people: readonly string[];
}
