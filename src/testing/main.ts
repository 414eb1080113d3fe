/** Owns the stand-alone process: starts a server from JSON options and prints `{"url":…,"port":…}` as its first line. */
import { pathToFileURL } from "node:url";
import type { TaskServerSettings } from "./options.js";
import { startTaskServer } from "./server.js";
import type { TestTool } from "./types.js";

const text = process.argv[2] ?? process.env["TASK_SERVER_OPTIONS"] ?? "{}";
const { toolsModule, tools, ...settings } = JSON.parse(text) as TaskServerSettings & {
  toolsModule?: string;
  tools?: TestTool[];
};
const loaded =
  toolsModule === undefined
    ? []
    : ((await import(pathToFileURL(toolsModule).href)) as { tools: readonly TestTool[] }).tools;
const server = await startTaskServer({ ...settings, tools: [...loaded, ...(tools ?? [])] });
process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port })}\n`);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void server.close().then(() => process.exit(0)));
}
// The parent holds our standard input open: when it dies, so do we.
if (process.env["TASK_SERVER_TIED"] === "1") process.stdin.on("end", () => process.exit(0)).resume();
