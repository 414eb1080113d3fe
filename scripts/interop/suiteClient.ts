/** Owns the client that the official conformance suite drives: each scenario through the built package. Last argument: the URL. */
import { httpConnection, sdkConnection, TaskClient, type Connection, type JsonObject } from "mcp-taskrail";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const modern = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  toolCalls?: { name: string; arguments: JsonObject }[];
};

async function overSdk(): Promise<Connection> {
  // The form is accepted as it is: what it leaves out is filled in from its defaults, which is the SDK's to do here.
  const capabilities = { elicitation: { form: { applyDefaults: true } } };
  const client = new Client({ name: "interop", version: "0.0.0" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: "accept",
    content: {},
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return sdkConnection(client);
}

const tasks = new TaskClient({
  onInputRequest: () => ({ action: "accept", content: { confirmed: true } }),
});
await tasks.connect("suite", modern ? httpConnection(url) : await overSdk());
const listed = await tasks.listTools("suite");

/** What is called after the listing: by scenario, else every tool of the listing. */
async function call(name: string, args: JsonObject = {}): Promise<void> {
  await tasks.callTool("suite", { name, arguments: args });
}

switch (scenario) {
  case "initialize":
  case "json-schema-ref-no-deref":
    break;
  case "tools_call":
    await call("add_numbers", { a: 5, b: 3 });
    break;
  case "http-custom-headers":
    for (const { name, arguments: args } of context.toolCalls ?? []) await call(name, args);
    break;
  case "json-schema-2020-12-preservation": {
    const rich = listed.find(({ name }) => name === "json_schema_2020_12_tool");
    await call("json_schema_echo", { schema: rich?.inputSchema ?? {} });
    break;
  }
  default:
    await Promise.all(listed.map(({ name }) => call(name)));
}
await tasks.close();
process.exit(0);
