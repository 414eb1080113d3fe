/** What a host that changes one line must not have to know: who hears of its handlers, and what its arguments may be. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CallbackError, InvalidInputResponseError, TaskClient, withTasks } from "../../src/index.js";
import { startTaskServer, type TaskServer } from "../../src/testing/index.js";
import { newTwo, wrappedTwo } from "./withTasksSupport.js";

let server: TaskServer;
beforeEach(async () => {
  server = await startTaskServer({ pollIntervalMs: 20 });
});
afterEach(() => server.close());

test("a handler that throws, answers what does not fit, or is missing: onerror is told, and the question stays open", async () => {
  const answers = [
    () => Promise.reject(new Error("no terminal")),
    () => Promise.resolve({ action: "accept" as const, content: { approve: "perhaps" } }),
    undefined,
  ];
  for (const answer of answers) {
    const raw = newTwo({ elicitation: { form: {} } });
    if (answer !== undefined) raw.setRequestHandler("elicitation/create", answer as never);
    const heard: Error[] = [];
    raw.onerror = (error) => heard.push(error);
    const host = await wrappedTwo(server.url, {}, raw);
    const stop = new AbortController();
    const call = host.call({ name: "deploy", arguments: { env: "prod" } }, { signal: stop.signal });
    call.catch(() => undefined);
    await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(1);
    expect(heard[0]).toBeInstanceOf(answer === answers[1] ? InvalidInputResponseError : CallbackError);
    const [question] = await host.client.taskClient.pendingInputs();
    await host.client.taskClient.respond(question!.id, question!.key, {
      action: "accept",
      content: { approve: true },
    });
    expect((await call).content?.[0]?.text).toBe("deployed to prod");
  }
});

test("arguments go out as the SDK's transport would have sent them", async () => {
  const host = await wrappedTwo(server.url);
  const at = new Date("2026-11-29T12:00:00Z");
  const sent = await host.call({
    name: "echo",
    arguments: { text: "x", at, none: undefined, odd: [undefined, NaN] },
  });
  expect(sent.content?.[0]?.text).toBeDefined();
  const call = server.log().find(({ method }) => method === "tools/call");
  expect(call?.params).toMatchObject({ arguments: { text: "x", at: at.toISOString(), odd: [null, null] } });
});

test("names that nobody reads are refused, and the known ones told", async () => {
  expect(() => withTasks(newTwo(), { timeoutMs: 5 } as never)).toThrow(
    /timeoutMs.*server.*identity.*reconnect.*onAbort/,
  );
  const host = await wrappedTwo(server.url);
  await expect(host.call({ name: "echo", _meta: { "mcp-taskrail/callID": "1" } })).rejects.toThrow(
    /_meta: unknown "mcp-taskrail\/callID" \(known: mcp-taskrail\/callId, mcp-taskrail\/context\)/,
  );
  expect(server.log().filter(({ method }) => method === "tools/call")).toEqual([]);
  const tasks = new TaskClient();
  await expect(tasks.connect("raw", newTwo() as never)).rejects.toThrow(
    /connection: expected .*sdkConnection\(client\)/,
  );
});

test("a process ends by itself after tasks.close(), also with a session of 2025-11-25", async () => {
  const program = fileURLToPath(new URL("./closesAndEnds.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += String(chunk)));
  const [code] = (await once(child, "exit")) as [number | null];
  expect([output.trim(), code]).toEqual(["plain", 0]);
});
