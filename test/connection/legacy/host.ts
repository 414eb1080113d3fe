/** Owns the host program of the restart tests: a client of the official SDK, ours in front of it, and a store on disk. */
import { TaskClient, type JsonObject } from "../../../src/index.js";
import { sdkConnection } from "../../../src/connection/sdk/sdkConnection.js";
import { lmdbStore } from "../../../src/store/lmdb.js";
import { newSdkClient, overHttp } from "../../helpers/legacy.js";
import { programInput } from "../../process/programInput.js";

/** What the host is told. */
export interface LegacyHostInput {
  readonly url: string;
  readonly storePath: string;
  /** Absent: goes on with what is stored. */
  readonly call?: { readonly name: string; readonly arguments: JsonObject };
  /** What it answers to every question. Absent: it leaves them open. */
  readonly answer?: JsonObject;
}

const input = programInput<LegacyHostInput>();
const sdk = newSdkClient();
await sdk.connect(overHttp(input.url));
const tasks = new TaskClient({
  store: lmdbStore(input.storePath),
  poll: { minIntervalMs: 10 },
  retry: { minDelayMs: 20, maxDelayMs: 100 },
  onInputRequest({ key }) {
    console.log("asked", key);
    return input.answer;
  },
});
const found = await tasks.connect("server", sdkConnection(sdk));
if (input.call !== undefined) {
  const call = await tasks.callTool("server", input.call);
  if (call.kind === "task") found.push(call.task);
}
for (const task of found) {
  console.log("tracking");
  console.log("result", JSON.stringify(await task.result()));
}
await tasks.close();
await sdk.close();
