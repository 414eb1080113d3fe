/** Owns a child process that runs scenarios when it is asked to, one at a time. It decides nothing. */
import { runScenario } from "./run.js";
import { scenarioOf, type Omission } from "./scenario.js";

/** What a worker is asked for. */
export interface RunRequest {
  readonly seed: number;
  readonly omit: Omission;
  /** How many of the last lines of its trace are wanted, where the run fails; `always`: also where it does not. */
  readonly lines: number;
  readonly always?: boolean;
}

/** What it answers. */
export interface RunAnswer {
  readonly seed: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly hash: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly violation: { readonly invariant: string; readonly detail: string } | undefined;
  readonly trace: readonly string[];
}

export async function answerTo({ seed, omit, lines, always = false }: RunRequest): Promise<RunAnswer> {
  const result = await runScenario(scenarioOf(seed, omit));
  const wanted = always || result.violation !== undefined;
  return {
    ...result,
    counts: Object.fromEntries(result.counts),
    trace: wanted ? result.trace.slice(-lines) : [],
  };
}

// Only as a child: tests import this file, too.
if (process.send !== undefined && process.env["SIM_WORKER"] === "1") {
  process.on("message", (request: RunRequest) => {
    void answerTo(request).then(
      (answer) => process.send?.(answer),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
