/** Owns a host program that opens a stream and then has nothing left to do, or waits for a while first. It never closes its client. */
import { httpConnection, TaskClient } from "../../src/index.js";

const [url = "", waitMs = "0"] = process.argv.slice(2);
const client = new TaskClient({ push: "always" });
await client.connect("srv", httpConnection(url));
const opened = new Promise<void>((resolve) => {
  const alive = setInterval(() => undefined, 1000);
  client.on("push", ({ state }) => {
    console.log(state);
    clearInterval(alive);
    resolve();
  });
});
const call = await client.callTool("srv", { name: "never", arguments: {} });
await opened;
if (call.kind === "task" && Number(waitMs) > 0) {
  await call.task.result({ timeoutMs: Number(waitMs) }).catch((error: Error) => console.log(error.name));
}
console.log("nothing left to do");
