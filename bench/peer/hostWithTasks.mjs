/** Owns the host program over the official client in withTasks; the lines between the marks are counted. It must do what hostPeer.mjs does. */
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { withTasks } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";

// <host>
export async function host({ url, folder, name, args, timeoutMs, askPerson, use, useLate, report, hold }) {
  const store = lmdbStore(join(folder, "tasks"));
  const info = { name: "host", version: "1.0.0" };
  const capabilities = { elicitation: { form: {} } };
  const sdkClient = new Client(info, { capabilities, versionNegotiation: { mode: "auto" } });
  sdkClient.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
    return { action: "accept", content: await askPerson(params.message, mcpReq.signal) };
  });
  const client = withTasks(sdkClient, { store, onSettled: useLate, server: "server" });
  client.taskClient.on("error", ({ error }) => console.error(error));
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const _meta = { "mcp-taskrail/callId": "call-1" };
    use(await client.callTool({ name, arguments: args, _meta }, { timeout: timeoutMs }));
  } catch (error) {
    report(error);
  } finally {
    await hold();
    await client.close();
    await store.disconnect();
  }
}
// </host>
