/** Owns what the server's log says about the pace of polls: every gap, and the interval that was in force. */
import type { LogEntry } from "../../src/testing/index.js";

/** Two requests about one task that followed each other. */
export interface Gap {
  readonly taskId: string;
  readonly tool: string;
  /** The how-manieth poll ended it, from 1. */
  readonly poll: number;
  /** From the arrival of one to the arrival of the next: no shorter than from the answer in between. */
  readonly ms: number;
  /** What the answer in between told the client, and how long that answer was held back. */
  readonly intervalMs: number;
  readonly heldBackMs: number;
}

/** The gaps before every poll; the first one begins with the call that made the task. */
export function gapsOf(log: readonly LogEntry[], shown: { defaultMs: number; heldBackMs?: number }): Gap[] {
  const gaps: Gap[] = [];
  const before = new Map<
    string,
    { atMs: number; polls: number; intervals: readonly number[]; heldMs: number }
  >();
  for (const { method, taskId, atMs, params, name = "?", answer } of arrivals(log)) {
    if (taskId === undefined) continue;
    if (method === "tools/call" && answer === "task") {
      const { intervals } = (params["arguments"] ?? {}) as { intervals?: readonly number[] };
      before.set(taskId, { atMs, polls: 0, intervals: intervals ?? [shown.defaultMs], heldMs: 0 });
    } else if (method === "tasks/get") {
      const last = before.get(taskId);
      if (last === undefined) throw new Error("a poll of a task that nobody made");
      const intervalMs = last.intervals[Math.min(last.polls, last.intervals.length - 1)] ?? shown.defaultMs;
      const poll = last.polls + 1;
      gaps.push({ taskId, tool: name, poll, ms: atMs - last.atMs, intervalMs, heldBackMs: last.heldMs });
      before.set(taskId, { ...last, atMs, polls: poll, heldMs: shown.heldBackMs ?? 0 });
    }
  }
  return gaps;
}

/** Those that came before their time. A millisecond is lost where both instants are whole ones. */
export function tooShort(gaps: readonly Gap[]): Gap[] {
  return gaps.filter(({ ms, intervalMs, heldBackMs }) => ms < intervalMs + heldBackMs - 1);
}

function arrivals(log: readonly LogEntry[]): LogEntry[] {
  // Entries are in the order of the answers.
  return [...log].sort((a, b) => a.atMs - b.atMs || a.seq - b.seq);
}
