/** Owns what is measured: the variants, the load, and what a measured process is told and tells. No I/O. */

export const VARIANTS = ["plain loop", "TaskClient, memory", "TaskClient, lmdb"] as const;
export type Variant = (typeof VARIANTS)[number];

/** How much there is to do. */
export interface Load {
  readonly tasks: number;
  readonly pollIntervalMs: number;
  /** How long each task works, all of it told by the server's hint in so many polls. */
  readonly pollsPerTask: number;
  readonly rounds: number;
}

export const FULL: Load = { tasks: 200, pollIntervalMs: 1000, pollsPerTask: 20, rounds: 5 };
/** Shows that everything runs; its figures mean nothing. */
export const QUICK: Load = { tasks: 10, pollIntervalMs: 100, pollsPerTask: 5, rounds: 1 };

/** The measured call: one question half way. `report` warms up, so that the server's log tells the two apart. */
export const MEASURED_TOOL = "deploy";
export const WARM_UP_TOOL = "report";

/** What a measured process is started with. */
export interface ChildSettings {
  readonly variant: Variant;
  readonly url: string;
  readonly folder: string;
  readonly load: Load;
}

/** What it answers. */
export interface ChildFigures {
  /** User and system time of the whole process, its threads included, while the tasks ran. */
  readonly cpuMs: number;
  /** Heap in use half way, after a collection, minus that before the calls. */
  readonly liveHeapBytes: number;
  readonly peakRssBytes: number;
}

export function measuredArguments({ pollIntervalMs, pollsPerTask }: Load): Record<string, unknown> {
  const halfMs = (pollIntervalMs * (pollsPerTask - 1)) / 2;
  return { env: "prod", ms: halfMs, afterMs: halfMs };
}

export function warmUpArguments({ pollIntervalMs }: Load): Record<string, unknown> {
  return { steps: 8, stepMs: pollIntervalMs / 2 };
}
