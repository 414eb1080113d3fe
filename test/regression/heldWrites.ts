/** Owns a process's way to a store whose writes of records can be held up: what is read is read before. It asserts nothing. */
import type { KeyValueStore } from "../../src/store/types.js";

export function heldWrites(inner: KeyValueStore): {
  readonly store: KeyValueStore;
  hold(): void;
  letGo(): void;
} {
  let held: Promise<void> | undefined;
  let letGo = (): void => undefined;
  const store: KeyValueStore = {
    ...inner,
    async setIfUnchanged(key, ...args) {
      if (!key.endsWith("!roster")) await held;
      return inner.setIfUnchanged!(key, ...args);
    },
  };
  return {
    store,
    hold: () => void (held = new Promise((resolve) => (letGo = resolve))),
    letGo() {
      held = undefined;
      letGo();
    },
  };
}
