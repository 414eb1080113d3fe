/** The first process: calls a tool that takes a while, and dies with the handle in its hands. */
import { TaskClient, httpConnection } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";

const [url = "", folder = ""] = process.argv.slice(2);

const tasks = new TaskClient({ store: lmdbStore(folder) });
await tasks.connect("reports", httpConnection(url));
const call = await tasks.callTool(
  "reports",
  { name: "report", arguments: { steps: 4, stepMs: 500 } },
  { callId: "monthly-report", context: { conversation: 7 } },
);

// As soon as `callTool` answers, the handle is on disk. So this may happen at any time from here on:
console.log(`start.ts: the call is a ${call.kind}; now the power goes out`);
process.kill(process.pid, "SIGKILL");
