/**
 * A host in a process of its own, to be killed: an SDK client wrapped by withTasks, its store in lmdb. Arguments: the
 * server's URL, the store's folder, and the time that the tool takes. Prints "task" once there is one, and the answer.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { withTasks } from "../../src/index.js";
import { lmdbStore } from "../../src/store/lmdb.js";

const [url = "", folder = "", ms = "0"] = process.argv.slice(2);
const store = lmdbStore(folder);
const sdk = new Client({ name: "host", version: "1" }, { versionNegotiation: { mode: "auto" } });
const client = withTasks(sdk, { store, poll: { defaultIntervalMs: 20, minIntervalMs: 10 } });
client.taskClient.on("created", () => console.log("task"));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const answer = await client.callTool({
  name: "slow",
  arguments: { ms: Number(ms), text: "late" },
  _meta: { "mcp-taskrail/callId": "turn-7" },
});
console.log(`answer ${JSON.stringify(answer)}`);
await client.close();
