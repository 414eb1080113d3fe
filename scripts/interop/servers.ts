/** Owns the foreign servers of the table: how each is installed and started, and which calls show what. It runs nothing. */
import { join } from "node:path";
import type { JsonObject } from "mcp-taskrail";
import type { ClientKind } from "./job.js";
import type { Command } from "./processes.js";
import type { Installed, Scratch } from "./scratch.js";
import * as versions from "./versions.js";

/** A call, and what its answer must say. */
export interface Call {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly expect: RegExp;
}

/** A call for a column, or why the server has none. */
export type Offer<T> = T | { readonly lacks: string };

/** One foreign server. */
export interface ForeignServer {
  readonly name: string;
  readonly version: string;
  readonly language: string;
  /** The newest generation of tasks that it speaks. */
  readonly generation: "2026-07-28" | "2025-11-25";
  install(scratch: Scratch): Promise<Installed>;
  /** Speaks 2026-07-28 too, but has no tasks there: a client that negotiates must be held at the earlier revision. */
  readonly tasksInLegacyOnly?: boolean;
  /** Its tasks do not survive the end of another session: every cell gets a server process of its own. */
  readonly processPerCell?: boolean;
  /** Default `/mcp`. */
  readonly httpPath?: string;
  /** `folder`: where it was installed; `state`: a fresh folder. */
  http(folder: string, port: number, state: string): Command;
  stdio(folder: string, state: string): Command;
  /** Answers at once, without a task. */
  readonly immediate: Call;
  /** A short task. */
  readonly task: Call;
  /** A task that goes on for several poll intervals. */
  readonly long: Call;
  /** A task that asks, and what it is told. */
  readonly question: Offer<Call & { readonly answer: JsonObject }>;
  /** True where tasks outlive the server's process, so that they can be resumed over stdio. */
  readonly durable?: boolean;
  /** Further calls, whose outcome is printed below the table. */
  readonly extras?: readonly Extra[];
}

/** A call beyond the columns. */
export interface Extra extends Call {
  readonly what: string;
  readonly status: string;
  readonly answer?: JsonObject;
}

/** The clients that a transport is driven with. */
export function clientsFor(transport: "http" | "stdio"): readonly ClientKind[] {
  const sdks: ClientKind[] = ["sdk 1.x", "sdk 2.x", "withTasks 1.x", "withTasks 2.x"];
  return transport === "http" ? ["httpConnection", ...sdks] : sdks;
}

const approve: JsonObject = { action: "accept", content: { approve: true } };
const common = {
  immediate: { tool: "echo", arguments: { text: "hello" }, expect: /^hello$/ },
  task: {
    tool: "crunch",
    arguments: { seconds: 1 },
    expect: /^crunched 1(\.0)?$/,
  },
  long: {
    tool: "crunch",
    arguments: { seconds: 8 },
    expect: /^crunched 8(\.0)?$/,
  },
  question: {
    tool: "deploy",
    arguments: {},
    expect: /^answered .*(accept|true)/is,
    answer: approve,
  },
};

const everything: ForeignServer = {
  name: "@modelcontextprotocol/server-everything",
  version: versions.NPM_PACKAGES["@modelcontextprotocol/server-everything"],
  language: "TypeScript",
  generation: "2025-11-25",
  install: (scratch) => scratch.npm("npm", versions.NPM_PACKAGES, "sdk2"),
  http: (folder, port) => ({
    command: process.execPath,
    args: [everythingMain(folder), "streamableHttp"],
    env: { PORT: String(port) },
  }),
  stdio: (folder) => ({
    command: process.execPath,
    args: [everythingMain(folder), "stdio"],
  }),
  immediate: { tool: "echo", arguments: { message: "hello" }, expect: /hello/ },
  task: research({ topic: "rails" }, /Research Report: rails/),
  long: research({ topic: "rails" }, /Research Report: rails/),
  question: {
    ...research({ topic: "python", ambiguous: true }, /Research Report: python \(snake\)/),
    answer: { action: "accept", content: { interpretation: "snake" } },
  },
  extras: [
    {
      ...research({ topic: "python", ambiguous: true }, /Research Report: python/),
      what: "the ambiguous question without a handler",
      status: "completed",
    },
  ],
};

function research(args: JsonObject, expect: RegExp): Call {
  return { tool: "simulate-research-query", arguments: args, expect };
}

function everythingMain(folder: string): string {
  return join(folder, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js");
}

const officialV2: ForeignServer = {
  ...common,
  name: "@modelcontextprotocol/server",
  version: versions.NPM_PACKAGES["@modelcontextprotocol/server"],
  language: "TypeScript",
  generation: "2026-07-28",
  durable: true,
  install: (scratch) => scratch.npm("npm", versions.NPM_PACKAGES, "sdk2"),
  http: (folder, port, state) => ({
    command: process.execPath,
    args: [join(folder, "server.mjs"), String(port), join(state, "tasks.json")],
  }),
  stdio: (folder, state) => ({
    command: process.execPath,
    args: [join(folder, "server.mjs"), "stdio", join(state, "tasks.json")],
  }),
};

const fastmcp: ForeignServer = {
  ...common,
  name: "fastmcp + fastmcp-tasks",
  version: `${versions.FASTMCP_PACKAGES.fastmcp} + ${versions.FASTMCP_PACKAGES["fastmcp-tasks"]}`,
  language: "Python",
  generation: "2026-07-28",
  install: (scratch) => scratch.python("fastmcp", versions.FASTMCP_PACKAGES),
  http: (folder, port) => python(folder, "fastmcp_server.py", String(port)),
  stdio: (folder) => python(folder, "fastmcp_server.py", "stdio"),
  extras: [
    {
      what: "mode optional",
      tool: "crunch_optional",
      arguments: { seconds: 1 },
      status: "completed",
      expect: /^crunched 1/,
    },
    {
      what: "a tool that raises",
      tool: "broken",
      arguments: {},
      status: "completed",
      expect: /^isError: /,
    },
    {
      what: "a question without a task",
      tool: "deploy_now",
      arguments: {},
      status: "result",
      expect: /^answered .*accept/s,
      answer: approve,
    },
  ],
};

const pythonSdk: ForeignServer = {
  ...common,
  name: "mcp (experimental tasks)",
  version: versions.PYTHON_SDK_PACKAGES.mcp,
  language: "Python",
  generation: "2025-11-25",
  httpPath: "/mcp/",
  processPerCell: true,
  install: (scratch) => scratch.python("python-sdk", versions.PYTHON_SDK_PACKAGES),
  http: (folder, port) => python(folder, "mcp_server.py", String(port)),
  stdio: (folder) => python(folder, "mcp_server.py", "stdio"),
};

function python(folder: string, file: string, where: string): Command {
  return {
    command: join(folder, "venv", "bin", "python"),
    args: [join(folder, file), where],
  };
}

const rmcp: ForeignServer = {
  ...common,
  name: "rmcp",
  version: versions.RMCP,
  language: "Rust",
  generation: "2026-07-28",
  install: (scratch) => scratch.cargo("rmcp", versions.RMCP),
  http: (folder, port) => rust(folder, "interop-rmcp", String(port)),
  stdio: (folder) => rust(folder, "interop-rmcp", "stdio"),
};

const towerMcp: ForeignServer = {
  ...common,
  name: "tower-mcp",
  version: versions.TOWER_MCP,
  language: "Rust",
  generation: "2026-07-28",
  httpPath: "/",
  install: (scratch) => scratch.cargo("tower-mcp", versions.TOWER_MCP),
  http: (folder, port) => rust(folder, "interop-tower-mcp", String(port)),
  stdio: (folder) => rust(folder, "interop-tower-mcp", "stdio"),
};

function rust(folder: string, binary: string, where: string): Command {
  return { command: join(folder, "target", "debug", binary), args: [where] };
}

const mcpGo: ForeignServer = {
  ...common,
  name: "mark3labs/mcp-go",
  version: versions.MCP_GO,
  language: "Go",
  generation: "2025-11-25",
  tasksInLegacyOnly: true,
  install: (scratch) => scratch.go("mcp-go", versions.MCP_GO),
  http: (folder, port) => ({
    command: join(folder, "server"),
    args: [String(port)],
  }),
  stdio: (folder) => ({ command: join(folder, "server"), args: ["stdio"] }),
};

/** All of them, in the table's order. */
export const SERVERS: readonly ForeignServer[] = [
  everything,
  officialV2,
  fastmcp,
  pythonSdk,
  rmcp,
  towerMcp,
  mcpGo,
];
