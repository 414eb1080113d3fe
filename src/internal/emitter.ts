/** Owns telling listeners: typed events, isolated from each other. It knows no domain words. */
import { runGuarded } from "./guard.js";

/** Stops listening. */
export type Unsubscribe = () => void;

/** A typed emitter. A listener that throws, or is async and rejects, does not stop the others. */
export interface Emitter<Events extends object> {
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): Unsubscribe;
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void;
  clear(): void;
  count(name: keyof Events): number;
}

/** `onThrow` hears of listeners that throw or reject; it must not throw itself. */
export function createEmitter<Events extends object>(
  onThrow: (error: unknown, name: keyof Events) => void,
): Emitter<Events> {
  type Listener = (event: never) => void;
  const listeners = new Map<keyof Events, Set<{ run: Listener }>>();
  return {
    on(name, listener) {
      // An entry of its own per call: adding one function twice and removing it once leaves one.
      const entry = { run: listener as Listener };
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(entry));
      return () => void set.delete(entry);
    },
    emit(name, event) {
      for (const { run } of [...(listeners.get(name) ?? [])]) {
        runGuarded(
          () => run(event as never),
          (error) => onThrow(error, name),
        );
      }
    },
    clear: () => listeners.clear(),
    count: (name) => listeners.get(name)?.size ?? 0,
  };
}
