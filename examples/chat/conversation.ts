/** Owns the conversation on disk: an append-only list in one JSON file. It knows nothing of tools. */
import { readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import type { ChatMessage } from "./messages.js";

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** Adds what is not there yet, by id; resolves once it is on disk, and says what was new. */
  append(...messages: readonly ChatMessage[]): Promise<readonly ChatMessage[]>;
}

export function openConversation(path: string): Conversation {
  let messages = read(path);
  let writing: Promise<unknown> = Promise.resolve();

  return {
    get messages() {
      return messages;
    },
    async append(...added) {
      // Taken at once, so that the same message twice at a time is taken once.
      const fresh = added.filter(({ id }) => messages.every((message) => message.id !== id));
      messages = [...messages, ...fresh];
      // Also where nothing is new: it may be somebody else's write that is still under way.
      const mine = writing.catch(() => undefined).then(() => write(path, messages));
      writing = mine;
      await mine;
      return fresh;
    },
  };
}

function read(path: string): readonly ChatMessage[] {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ChatMessage[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Beside and renamed: a host that is killed leaves the old file or the new one. */
async function write(path: string, messages: readonly ChatMessage[]): Promise<void> {
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(messages));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
