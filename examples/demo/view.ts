/** Owns the output: a live view on a terminal, plain lines elsewhere. It knows no tasks. */
import { label, lines, seconds, type Picture } from "./picture.js";
import { printable } from "../printable.js";

/** Where the demo shows itself. */
export interface View {
  /** True when the view is drawn in place. */
  readonly live: boolean;
  show(picture: Picture): void;
  /** A line that stays. */
  say(line: string): void;
  /** Leaves the terminal as it was. Harmless to repeat. */
  close(): void;
}

/** A terminal that is lower than this cannot be drawn in: lines that scrolled away cannot be reached. */
const MIN_ROWS = 16;
const MIN_COLUMNS = 60;
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** What is too wide (double-width characters of a server) is cut by the terminal, not wrapped. */
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ALL = "\x1b[H\x1b[2J";

export function createView(out: NodeJS.WriteStream, elapsedMs: () => number): View {
  const fits = out.isTTY && out.rows >= MIN_ROWS && out.columns >= MIN_COLUMNS;
  return fits && process.env["TERM"] !== "dumb" ? liveView(out) : plainView(out, elapsedMs);
}

function liveView(out: NodeJS.WriteStream): View {
  const said: string[] = [];
  let picture: Picture | undefined;
  let drawn: readonly string[] = [];
  let closed = false;
  out.write(HIDE_CURSOR + NO_WRAP);
  const onResize = (): void => redraw(CLEAR_ALL, said);
  out.on("resize", onResize);

  /** Everything in one write, over what is there: nothing is ever blank in between. */
  function redraw(start: string, above: readonly string[]): void {
    drawn = picture === undefined ? [] : lines(picture, out.columns);
    const text = [...above, ...drawn].map((line) => `${line}${CLEAR_LINE}\n`).join("");
    out.write(`${start}${text}${CLEAR_BELOW}`);
  }

  const up = (): string => (drawn.length === 0 ? "" : `\x1b[${drawn.length}A\r`);

  return {
    live: true,
    show(next) {
      if (closed) return;
      picture = next;
      if (lines(next, out.columns).join("\n") !== drawn.join("\n")) redraw(up(), []);
    },
    say(line) {
      said.push(printable(line));
      if (!closed) redraw(up(), said.slice(-1));
    },
    close() {
      if (closed) return;
      closed = true;
      out.off("resize", onResize);
      out.write(SHOW_CURSOR + WRAP);
    },
  };
}

function plainView(out: NodeJS.WriteStream, elapsedMs: () => number): View {
  const seen = new Map<string, string>();
  const say = (line: string): void => {
    out.write(`${seconds(elapsedMs()).padStart(7)}  ${printable(line)}\n`);
  };
  return {
    live: false,
    say,
    show({ rows }) {
      for (const { name, status, text } of rows) {
        const line = `${name.padEnd(7)} ${label(status).padEnd(10)} ${text}`;
        if (seen.get(name) !== line) say(line);
        seen.set(name, line);
      }
    },
    close() {
      // Nothing was changed.
    },
  };
}
