/** Owns the child processes that run scenarios: how many, who is free, who hangs. */
import { fork, type ChildProcess } from "node:child_process";
import type { RunAnswer, RunRequest } from "./worker.js";

/** Some workers over one program. */
export interface Pool {
  /** Runs where a worker is free. A worker that hangs or dies answers as a broken seed. */
  run(request: RunRequest): Promise<RunAnswer>;
  readonly size: number;
  close(): void;
}

/** A step that takes this long (by the machine's clock) is an endless loop of microtasks. */
const HANG_MS = 90_000;

/**
 * How workers run. Worlds make thousands of errors and little that lives long: without their stacks and in a nursery that
 * fits in the cache, a step costs a fifth less.
 */
const FAST = ["--stack-trace-limit=0", "--max-semi-space-size=8", "--single-threaded-gc"];
/** For one seed that somebody looks at. */
const WITH_STACKS = ["--enable-source-maps"];

/** `stacks`: errors say where they came from, and everything takes longer. */
export function createPool(program: string, size: number, { stacks = false } = {}): Pool {
  const idle: ChildProcess[] = [];
  const all = new Set<ChildProcess>();
  const waiting: ((child: ChildProcess) => void)[] = [];
  for (let n = 0; n < size; n += 1) release(start());

  function start(): ChildProcess {
    const child = fork(program, [], {
      env: { ...process.env, SIM_WORKER: "1" },
      execArgv: stacks ? WITH_STACKS : FAST,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    all.add(child);
    child.on("exit", () => {
      const at = idle.indexOf(child);
      if (at >= 0) idle.splice(at, 1, start());
    });
    return child;
  }

  function release(child: ChildProcess): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(child);
    else next(child);
  }

  function acquire(): Promise<ChildProcess> {
    const child = idle.pop();
    return child === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(child);
  }

  async function run(request: RunRequest): Promise<RunAnswer> {
    // One that was killed or stopped from outside says nothing of the seed: the next one shows whether the seed does that.
    return (await attempt(request, true)) ?? ((await attempt(request, false)) as RunAnswer);
  }

  async function attempt(request: RunRequest, forgives: boolean): Promise<RunAnswer | undefined> {
    const child = await acquire();
    return new Promise((resolve) => {
      const lost = (why: string, isForgiven = false): void => {
        settle();
        all.delete(child);
        child.kill("SIGKILL");
        release(start());
        if (isForgiven) {
          console.error(`seed ${request.seed}: ${why}; once more`);
          return resolve(undefined);
        }
        const violation = { invariant: "P11 no hang", detail: `P11 no hang: ${why}` };
        resolve({ seed: request.seed, steps: 0, virtualMs: 0, hash: "", counts: {}, violation, trace: [] });
      };
      const limit = setTimeout(() => lost("the worker is silent", forgives), HANG_MS);
      const onMessage = (answer: unknown): void => {
        settle();
        release(child);
        resolve(answer as RunAnswer);
      };
      const onExit = (code: number | null, signal: string | null): void => {
        lost(`the worker ended (${signal ?? `code ${code ?? "?"}`})`, forgives);
      };
      const settle = (): void => {
        clearTimeout(limit);
        child.off("message", onMessage);
        child.off("exit", onExit);
      };
      child.on("message", onMessage);
      child.on("exit", onExit);
      child.send(request);
    });
  }

  return {
    run,
    size,
    close() {
      idle.length = 0;
      for (const child of all) child.kill();
    },
  };
}
