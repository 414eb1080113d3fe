/** Owns the names that host and page agree on. */

/** There is one conversation, which everybody at the desk shares. */
export const CONVERSATION = "desk";
