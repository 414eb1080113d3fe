/** Which processes an lmdb store takes for dead: only those that certainly are. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { lmdbLiveness } from "../../src/store/lmdbProcess.js";

const [boot, space, , started] = lmdbLiveness.mark.split(" ") as [string, string, string, string];
const mark = (pid: number | undefined, start = started, at = { boot, space }): string =>
  [at.boot, at.space, pid, start].join(" ");

test("a process is alive until it is killed, and its id in another's hands is not it", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log('up')"]);
  await once(child.stdout, "data");
  const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] as string;
  expect(lmdbLiveness.isGone(mark(child.pid, start))).toBe(false);
  expect(lmdbLiveness.isGone(mark(child.pid, `${start}1`))).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(lmdbLiveness.isGone(mark(child.pid, start))).toBe(true);
});

test("a process that has ended and was not yet buried is gone", async () => {
  // The shell's child ends; its parent, by then another program, never asks for it.
  const parent = spawn("sh", ["-c", "sh -c 'echo $$' & exec sleep 30"]);
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  const stateOf = (): string => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  };
  await expect.poll(stateOf).toBe("Z");
  expect(lmdbLiveness.isGone(mark(pid, "1"))).toBe(true);
  parent.kill("SIGKILL");
});

test("what cannot be known counts as alive: another container, an unreadable mark", () => {
  expect(lmdbLiveness.isGone(lmdbLiveness.mark)).toBe(false);
  expect(lmdbLiveness.isGone(mark(process.pid, started, { boot, space: "pid:[1]" }))).toBe(false);
  for (const odd of ["", "x", "a b c d e", `${boot} ${space} -1 5`, `${boot} ${space} 1.5 5`]) {
    expect(lmdbLiveness.isGone(odd)).toBe(false);
  }
});

test("before the machine was started anew, every process was another one", () => {
  expect(lmdbLiveness.isGone(mark(process.pid, started, { boot: "another-boot", space }))).toBe(true);
});
