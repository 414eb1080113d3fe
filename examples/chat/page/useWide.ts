/** Owns whether there is room for a column beside the conversation. */
import { useSyncExternalStore } from "react";

const query = matchMedia("(min-width: 960px)");

export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches);
}

function subscribe(listener: () => void): () => void {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}
