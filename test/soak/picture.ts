/** Owns the picture of a soak run: memory, live tasks and event-loop delay over time, as plain SVG for light and dark pages. */
import type { Sample } from "./plan.js";

interface Line {
  readonly name: string;
  readonly color: string;
  readonly of: (sample: Sample) => number;
}

interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

const WIDTH = 860;
const PANEL_HEIGHT = 170;
const GAP = 66;
const LEFT = 76;
const RIGHT = 24;
const TOP = 64;
const MIB = 1024 * 1024;

const PANELS: readonly Panel[] = [
  {
    title: "Memory of the host process after a full garbage collection",
    unit: "MiB",
    lines: [
      { name: "heap used", color: "a", of: ({ heapBytes }) => heapBytes / MIB },
      { name: "resident set", color: "b", of: ({ rssBytes }) => rssBytes / MIB },
    ],
  },
  {
    title: "Live tasks",
    unit: "tasks",
    lines: [{ name: "called, outcome not delivered yet", color: "a", of: ({ live }) => live }],
  },
  {
    title: "Event-loop delay between two samples",
    unit: "ms",
    lines: [
      { name: "p50", color: "a", of: ({ delay }) => delay.p50 },
      { name: "p99", color: "b", of: ({ delay }) => delay.p99 },
      { name: "max", color: "c", of: ({ delay }) => delay.max },
    ],
  },
];

/** The picture; `caption` is what was run. */
export function picture(samples: readonly Sample[], caption: string): string {
  const height = TOP + PANELS.length * (PANEL_HEIGHT + GAP);
  const endMs = Math.max(1, ...samples.map(({ atMs }) => atMs));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(caption)}">`,
    "<style>",
    ":root{--ink:#1f2328;--soft:#59636e;--grid:#d1d9e0;--a:#0969da;--b:#8250df;--c:#bc4c00;--page:#ffffff}",
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--grid:#3d444d;--a:#58a6ff;--b:#bc8cff;--c:#f0883e;--page:#0d1117}}",
    "text{font:12px system-ui,sans-serif;fill:var(--soft)}.title{font-weight:600;font-size:14px;fill:var(--ink)}",
    ".grid{stroke:var(--grid)}.line{fill:none;stroke-width:1.6;stroke-linejoin:round}",
    ".a{stroke:var(--a)}.b{stroke:var(--b)}.c{stroke:var(--c)}.page{fill:var(--page)}",
    "</style>",
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="${LEFT}" y="26">${escaped(caption)}</text>`,
    ...PANELS.flatMap((panel, at) => drawn(panel, samples, { top: TOP + at * (PANEL_HEIGHT + GAP), endMs })),
    "</svg>",
    "",
  ].join("\n");
}

function drawn(
  { title, unit, lines }: Panel,
  samples: readonly Sample[],
  { top, endMs }: { top: number; endMs: number },
): string[] {
  const bottom = top + PANEL_HEIGHT;
  const most = Math.max(1, ...samples.flatMap((sample) => lines.map(({ of }) => of(sample))));
  const step = niceStep(most / 4);
  const ceiling = Math.ceil(most / step) * step;
  const x = (atMs: number): number => LEFT + (atMs / endMs) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => bottom - (value / ceiling) * PANEL_HEIGHT;
  const parts = [`<text class="title" x="${LEFT}" y="${top - 10}">${title}</text>`];
  for (let value = 0; value <= ceiling + step / 2; value += step) {
    parts.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(value))}" y2="${round(y(value))}"/>`,
      `<text x="${LEFT - 8}" y="${round(y(value) + 4)}" text-anchor="end">${Number(value.toFixed(2))}</text>`,
    );
  }
  parts.push(
    `<text transform="translate(18 ${top + PANEL_HEIGHT / 2}) rotate(-90)" text-anchor="middle">${unit}</text>`,
  );
  const inMinutes = endMs > 180_000;
  const tickMs = niceStep(endMs / (inMinutes ? 60_000 : 1000) / 8) * (inMinutes ? 60_000 : 1000);
  for (let atMs = 0; atMs <= endMs; atMs += tickMs) {
    const label = Number((atMs / (inMinutes ? 60_000 : 1000)).toFixed(2));
    parts.push(`<text x="${round(x(atMs))}" y="${bottom + 17}" text-anchor="middle">${label}</text>`);
  }
  parts.push(
    `<text x="${WIDTH - RIGHT}" y="${bottom + 34}" text-anchor="end">time (${inMinutes ? "min" : "s"})</text>`,
  );
  lines.forEach(({ name, color, of }, at) => {
    const points = samples.map((sample) => `${round(x(sample.atMs))},${round(y(of(sample)))}`).join(" ");
    const legend = LEFT + at * 130;
    parts.push(
      `<polyline class="line ${color}" points="${points}"/>`,
      `<line class="line ${color}" x1="${legend}" x2="${legend + 20}" y1="${bottom + 30}" y2="${bottom + 30}"/>`,
      `<text x="${legend + 26}" y="${bottom + 34}">${name}</text>`,
    );
  });
  return parts;
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-6)));
  return ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
