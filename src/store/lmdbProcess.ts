/** Owns the telling of dead processes from living ones, on the machine that an lmdb folder is on. Node only. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Liveness } from "./types.js";

/** Where in `/proc/<pid>/stat`, after the name, the state and the start time are. */
const STATE_AT = 0;
const STARTED_AT = 19;
/** States of a process that has ended and was not yet buried. */
const ENDED = ["Z", "X", "x"];

/** What a process is known by. */
interface Mark {
  /** Of the running system: another one means that the machine was started anew. Empty where it is not known. */
  readonly boot: string;
  /** Where process ids mean the same: a container has its own. */
  readonly space: string;
  readonly pid: number;
  /** Tells a process from a later one with its id. Empty where it is not known. */
  readonly started: string;
}

/** Read once: the same for all stores of this process. */
const mine: Mark = {
  boot: tryRead(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  space: tryRead(() => readlinkSync("/proc/self/ns/pid")) || hostname(),
  pid: process.pid,
  started: statOf(process.pid)?.[STARTED_AT] ?? "",
};

/** By process id, start time and container. What cannot be known for certain counts as alive. */
export const lmdbLiveness: Liveness = {
  mark: [mine.boot, mine.space, mine.pid, mine.started].join(" "),
  isGone(mark) {
    const other = readMark(mark);
    if (other === undefined) return false;
    if (other.boot !== mine.boot) return other.boot !== "" && mine.boot !== "";
    if (other.space !== mine.space) return false;
    if (!exists(other.pid)) return true;
    const stat = statOf(other.pid);
    if (stat === undefined || other.started === "") return false;
    return ENDED.includes(stat[STATE_AT] ?? "") || stat[STARTED_AT] !== other.started;
  },
};

function readMark(mark: string): Mark | undefined {
  const [boot, space, pid, started, ...rest] = mark.split(" ");
  const id = Number(pid);
  if (boot === undefined || space === undefined || started === undefined || rest.length > 0) return undefined;
  return Number.isSafeInteger(id) && id > 0 ? { boot, space, pid: id, started } : undefined;
}

function exists(pid: number): boolean {
  try {
    // Signal 0 is only asked about, not sent.
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** What Linux tells of a process after its name, which may hold spaces and brackets itself. */
function statOf(pid: number): string[] | undefined {
  const text = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return text === "" ? undefined : text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function tryRead(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
