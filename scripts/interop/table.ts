/** Owns how the table is printed: short cells, reasons as numbered notes below. */
import { COLUMNS, type Cell } from "./cells.js";
import type { RowResult } from "./row.js";

/** The table as Markdown. */
export function markdown(results: readonly RowResult[]): string {
  const notes: string[] = [];
  const short = (cell: Cell | undefined): string => {
    if (cell === undefined) return "";
    if (cell.state === "ok" || cell.reason === undefined) return cell.state;
    let index = notes.indexOf(cell.reason);
    if (index < 0) index = notes.push(cell.reason) - 1;
    return `${cell.state} [${index + 1}]`;
  };
  const lines = merged(
    results.map(({ server, transport, client, row }) => [
      `${server.name} ${server.version} (${server.language}, ${server.generation})`,
      transport,
      client,
      ...COLUMNS.map((column) => short(row[column])),
    ]),
  );
  const head = ["server", "transport", "client", ...COLUMNS];
  const widths = head.map((_, at) => Math.max(...[head, ...lines].map((line) => (line[at] ?? "").length)));
  const pad = (line: readonly string[]) =>
    `| ${line.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const extras = results.flatMap(({ server, transport, client, extras }) =>
    extras.map(
      ({ what, cell }) =>
        `- ${server.name}, ${transport}, ${client}: ${what}: ${cell.state} (${cell.reason ?? ""})`,
    ),
  );
  return [
    pad(head),
    rule,
    ...lines.map(pad),
    "",
    ...notes.map((note, at) => `[${at + 1}] ${note.replaceAll("\n", " ")}`),
    ...(extras.length === 0 ? [] : ["", ...extras]),
  ].join("\n");
}

/** Rows that differ in nothing but the client become one. */
function merged(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const groups = new Map<string, string[]>();
  for (const [server = "", transport = "", client = "", ...cells] of lines) {
    const key = JSON.stringify([server, transport, cells]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [server, transport, client, ...cells]);
    else group[2] = `${group[2] ?? ""}, ${client}`;
  }
  return [...groups.values()];
}

/** True when nothing failed. */
export function allWell(results: readonly RowResult[]): boolean {
  return results.every(
    ({ row, extras }) =>
      COLUMNS.every((column) => row[column]?.state !== "FAIL") &&
      extras.every(({ cell }) => cell.state !== "FAIL"),
  );
}
