/** Owns how the demo looks at one moment: a pure function from what is known to lines. It writes nothing. */
import { printable } from "../printable.js";

/** One call on the screen. Texts may be the server's, unescaped. */
export interface Row {
  readonly name: string;
  readonly status: string;
  readonly text: string;
}

/** Everything that is on the screen. */
export interface Picture {
  readonly elapsedMs: number;
  readonly rows: readonly Row[];
  readonly worker: string;
  readonly server: string;
  /** The question to the person, with what to press; undefined while there is none. */
  readonly prompt: string | undefined;
}

const BAR_CELLS = 20;
const LABELS: Readonly<Record<string, string>> = { input_required: "needs you" };

/** The lines of the live view, none wider than `columns` (as far as every character takes one column). */
export function lines(picture: Picture, columns: number): string[] {
  const title = "mcp-taskrail demo: three tools, one crash, three results";
  const time = seconds(picture.elapsedMs);
  const drawn = [
    "",
    `${title}${time.padStart(Math.max(columns - 1 - title.length, time.length + 1))}`,
    "",
    ...picture.rows.map(
      ({ name, status, text }) =>
        `  ${name.padEnd(7)} ${bar(status, text)} ${label(status).padEnd(10)} ${text}`,
    ),
    "",
    `  worker  ${picture.worker}`,
    `  server  ${picture.server}`,
    "",
    picture.prompt === undefined ? "" : `> ${picture.prompt}`,
  ];
  return drawn.map((line) => printable(line, columns - 1));
}

/** The words for a status. */
export function label(status: string): string {
  return LABELS[status] ?? status;
}

export function seconds(elapsedMs: number): string {
  return `${(elapsedMs / 1000).toFixed(1)} s`;
}

/** "step 3 of 12" is a part of the way; other texts tell nothing. */
function bar(status: string, text: string): string {
  const [, at, of] = /(\d+) of (\d+)/.exec(text) ?? [];
  const part = status === "completed" ? 1 : at === undefined ? 0 : (Number(at) - 1) / Number(of);
  const full = Math.round(Math.min(Math.max(part, 0), 1) * BAR_CELLS);
  return `[${"#".repeat(full)}${"-".repeat(BAR_CELLS - full)}]`;
}
