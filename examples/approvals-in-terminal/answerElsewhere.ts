/** Another process on the same store: answers what is left open there. It is connected to no server. */
import { TaskClient } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";

const store = lmdbStore(process.argv[2] ?? "");
const tasks = new TaskClient({ store });
for (const request of await tasks.pendingInputs({ context: "release-team" })) {
  await tasks.respond(request.id, request.key, { action: "accept", content: { approve: true } });
  console.log(`\nanswerElsewhere.ts: approved "${request.id}" from process ${process.pid}`);
}
await tasks.close();
await store.disconnect();
