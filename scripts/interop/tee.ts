/** Owns the recording of a stdio server: passes both directions on and writes every message to a file. Arguments: file, command, args. */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { eachLine } from "./processes.js";

const [file = "", command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });

function record(dir: "out" | "in") {
  return (line: string) => {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      message = { method: "(not JSON)" };
    }
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), dir, message })}\n`);
  };
}

eachLine(process.stdin, record("out"));
eachLine(child.stdout, record("in"));
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
// A server need not notice that its client is gone: the recorder does.
process.stdin.once("close", () => setTimeout(() => child.kill("SIGKILL"), 300));
process.stdin.once("end", () => setTimeout(() => child.kill("SIGKILL"), 300));
child.once("exit", (code) => process.exit(code ?? 1));
child.stdin.on("error", () => child.kill("SIGKILL"));
process.stdout.on("error", () => child.kill("SIGKILL"));
