/** Owns noticing that an input never ends: another thread looks whether inputs go on, and ends the process if not. */
import { Worker } from "node:worker_threads";

export interface Watchdog {
  /** What is run from now on, in words that find it again. */
  begin(what: string): void;
  /** An input begins. */
  tick(): void;
  /** Nothing runs. */
  end(): void;
  stop(): Promise<void>;
}

const PROGRAM = `
const { workerData, parentPort } = require("node:worker_threads");
const count = new Int32Array(workerData.shared);
let what = "", seen = -1, since = Date.now();
parentPort.on("message", (text) => { what = text; });
setInterval(() => {
  const now = Atomics.load(count, 0);
  if (now !== seen || now === 0) { seen = now; since = Date.now(); return; }
  if (Date.now() - since < workerData.limitMs) return;
  // The main thread would have to pass on what is written the usual way.
  require("node:fs").writeSync(2, "HANG: input " + now + " has not ended for " + workerData.limitMs + " ms. " + what + "\\n");
  process.kill(process.pid, "SIGKILL");
}, 500);
`;

/** Starts it. `limitMs`: far beyond what any input takes, on a busy machine too. */
export function startWatchdog(limitMs = 60_000): Watchdog {
  const shared = new SharedArrayBuffer(4);
  const count = new Int32Array(shared);
  const worker = new Worker(PROGRAM, { eval: true, workerData: { shared, limitMs }, execArgv: [] });
  worker.unref();
  return {
    begin: (what) => worker.postMessage(what),
    tick: () => void Atomics.add(count, 0, 1),
    end: () => void Atomics.store(count, 0, 0),
    async stop() {
      await worker.terminate();
    },
  };
}
