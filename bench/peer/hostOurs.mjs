/** Owns the host program over TaskClient; the lines between the marks are counted. It must do what hostPeer.mjs does. */
import { join } from "node:path";
import { httpConnection, TaskClient } from "mcp-taskrail";
import { lmdbStore } from "mcp-taskrail/lmdb";

// <host>
export async function host({ url, folder, name, args, timeoutMs, askPerson, use, useLate, report, hold }) {
  const store = lmdbStore(join(folder, "tasks"));
  const tasks = new TaskClient({
    store,
    push: "auto",
    onInputRequest: async (request) => {
      if (request.kind !== "elicitation-form") return undefined;
      return { action: "accept", content: await askPerson(request.message, request.signal) };
    },
    onSettled: useLate,
  });
  tasks.on("error", ({ error }) => console.error(error));
  try {
    await tasks.connect("server", httpConnection(url));
    const call = await tasks.callTool("server", { name, arguments: args }, { callId: "call-1", timeoutMs });
    use(call.kind === "result" ? call.result : await call.task.result());
  } catch (error) {
    report(error);
  } finally {
    await hold();
    await tasks.close();
    await store.disconnect();
  }
}
// </host>
