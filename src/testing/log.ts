/** Owns the request log: one entry per request, in memory and as JSON lines that other processes read. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject } from "../internal/json.js";
import type { Violation } from "./strict.js";

/** One request, as it was answered. Entries are in the order of the answers. */
export interface LogEntry {
  readonly seq: number;
  /** Arrival, wall clock in ms. */
  readonly atMs: number;
  readonly method: string;
  /** The tool: of the call, or of the task. */
  readonly name?: string;
  /** Of the request, or of the handle that answered it. */
  readonly taskId?: string;
  readonly id?: string | number;
  readonly headers: Readonly<Record<string, string>>;
  readonly params: JsonObject;
  /** HTTP status; 0 when the connection got none. */
  readonly status: number;
  /** "complete", "task", "input_required", "error", "accepted", "stream", or "fault:" and its kind. */
  readonly answer: string;
  readonly errorCode?: number;
  /** False when a fault kept the request from running. */
  readonly processed: boolean;
  readonly violations?: readonly Violation[];
  /** Of an update: what became of each key. */
  readonly applied?: readonly string[];
  readonly repeated?: readonly string[];
  readonly conflicting?: readonly string[];
  readonly ignored?: readonly string[];
}

export interface RequestLog {
  add(entry: Omit<LogEntry, "seq">): void;
  entries(): readonly LogEntry[];
  close(): void;
}

/** Opens the log. With a file, every entry is in it before the request is answered; an old file is continued. */
export function requestLog(file: string | undefined): RequestLog {
  const entries: LogEntry[] = [];
  let seq = 0;
  let fd: number | undefined;
  if (file !== undefined) {
    mkdirSync(dirname(file), { recursive: true });
    seq = existsSync(file) ? readLog(file).length : 0;
    fd = openSync(file, "a");
  }
  return {
    add(entry) {
      const numbered: LogEntry = { seq: (seq += 1), ...entry };
      entries.push(numbered);
      if (fd !== undefined) writeSync(fd, `${JSON.stringify(numbered)}\n`);
    },
    entries: () => entries,
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

/** Reads a log file, also one that is being written. A line that a kill cut short is left out. */
export function readLog(file: string): LogEntry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      if (line === "") return [];
      try {
        return [JSON.parse(line) as LogEntry];
      } catch {
        return [];
      }
    });
}
