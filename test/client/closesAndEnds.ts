/** Owns a host that calls a tool of a 2025-11-25 server over an httpConnection, closes its TaskClient only, and should end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { httpConnection, TaskClient } from "../../src/index.js";

const program = fileURLToPath(new URL("../helpers/legacyOfficial.mjs", import.meta.url));
const server = spawn(process.execPath, [program, "http"], { stdio: ["ignore", "pipe", "ignore"] });
const [line] = (await once(server.stdout, "data")) as [Buffer];
// The server is not to be what keeps this process alive.
server.unref();
server.stdout.destroy();
process.on("exit", () => server.kill("SIGKILL"));

const tasks = new TaskClient();
await tasks.connect("old", httpConnection(`http://127.0.0.1:${/\d+/.exec(String(line))?.[0] ?? ""}/mcp`));
const call = await tasks.callTool("old", { name: "plain" });
if (call.kind === "result") console.log((call.result.content[0] as { text: string }).text);
await tasks.close();
