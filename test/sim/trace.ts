/** Owns the memory of a run: its last lines, and one number that tells two runs apart. It judges nothing. */
import { hashText } from "./random.js";

/** What happened, in order. */
export interface Trace {
  note(line: string): void;
  /** The same for two runs that went the same way. */
  hash(): string;
  /** The newest lines, the oldest of them first. */
  last(count: number): string[];
  readonly lines: number;
}

export function createTrace(keep: number, now: () => number): Trace {
  const kept: string[] = [];
  let at = 0;
  let lines = 0;
  let hash = 0x811c9dc5;
  return {
    note(text) {
      const line = `${String(now()).padStart(9)} ${text}`;
      hash = hashText(line, hash);
      kept[at] = line;
      at = (at + 1) % keep;
      lines += 1;
    },
    hash: () => hash.toString(16).padStart(8, "0"),
    last(count) {
      const all = [...kept.slice(at), ...kept.slice(0, at)];
      return all.slice(-count);
    },
    get lines() {
      return lines;
    },
  };
}
