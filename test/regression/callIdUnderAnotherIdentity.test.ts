/** A callId of a task at another identity of the server waited for a connection that never came. */
import { expect, test } from "vitest";
import { CallIdConflictError, TaskClient } from "../../src/index.js";
import { scriptedConnection } from "../../src/testing/index.js";
import { done, handle } from "../engine/support.js";

test("is a conflict while the call is not over", async () => {
  const store = new Map<string, unknown>();
  const script = { "tools/call": handle(), "tasks/get": done() };
  const first = new TaskClient({ store });
  await first.connect("s", scriptedConnection(script, { identity: "https://old.example/mcp" }));
  await first.callTool("s", { name: "t" }, { callId: "c" });
  await first.close();

  const second = new TaskClient({ store });
  await second.connect("s", scriptedConnection(script, { identity: "https://new.example/mcp" }));
  const replay = second.callTool("s", { name: "t" }, { callId: "c" });
  await expect(replay).rejects.toBeInstanceOf(CallIdConflictError);
  await expect(replay).rejects.toThrow(/another identity of the server/);
  await second.close();
});
