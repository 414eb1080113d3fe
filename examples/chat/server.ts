/** The task server as a process of its own: the story's tools, and the page that a URL question leads to. It keeps its tasks in a file. */
import { join } from "node:path";
import { startTaskServer } from "mcp-taskrail/testing";
import { startSignInPage } from "./signInPage.js";
import { storyTools } from "./tools.js";

/** What the parent gives as JSON in the first argument. */
export interface ServerSettings {
  readonly folder: string;
  /** 0: any. A restarted server wants the port that it had. */
  readonly port: number;
}

/** What this process tells its parent once it listens. */
export interface ServerReady {
  readonly url: string;
  readonly port: number;
}

const { folder, port } = JSON.parse(process.argv[2] ?? "{}") as ServerSettings;
const signIn = await startSignInPage();
const server = await startTaskServer({
  port,
  tools: storyTools(signIn),
  stateFile: join(folder, "server.json"),
  logFile: join(folder, "server.log"),
  serverInfo: { name: "workshop", title: "The Workshop", version: "1.0.0" },
  pollIntervalMs: 500,
  push: true,
  // The browser tests ask it what it was told.
  control: true,
});
const ready: ServerReady = { url: server.url, port: server.port };
process.send?.(ready);

// Without its parent there is nobody to serve.
process.once("disconnect", () => process.exit(0));
