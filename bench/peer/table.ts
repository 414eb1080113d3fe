/** Owns the printing of one Markdown table. */
export function printTable([head = [], ...rows]: readonly (readonly string[])[]): void {
  const all = [head, head.map(() => "---"), ...rows];
  process.stdout.write(all.map((cells) => `| ${cells.join(" | ")} |\n`).join(""));
}
