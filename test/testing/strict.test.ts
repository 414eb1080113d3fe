import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/internal/json.js";
import { spawnTaskServer, type SpawnedTaskServer } from "../../src/testing/index.js";
import { ask, everything, send, startTask, type Wire } from "./wire.js";

let lenient: SpawnedTaskServer;
let strict: SpawnedTaskServer;
let refusing: SpawnedTaskServer;
beforeAll(async () => {
  [lenient, strict, refusing] = await Promise.all([
    spawnTaskServer(),
    spawnTaskServer({ strict: true }),
    spawnTaskServer({ strict: "refuse", pollIntervalMs: 10_000 }),
  ]);
});
afterAll(() => Promise.all([lenient, strict, refusing].map((one) => one.stop())));

const extension = "io.modelcontextprotocol/tasks";
const echo: JsonObject = { name: "echo", arguments: {} };
const regional = (args: JsonObject): JsonObject => ({ name: "regional", arguments: args });

interface Case {
  readonly rule: string;
  readonly params?: JsonObject;
  readonly wire: Wire;
  /** [lenient, strict] JSON-RPC error codes; undefined is a result. */
  readonly codes: readonly [number | undefined, number | undefined];
}

const cases: Record<string, Case> = {
  "Accept without event streams": {
    rule: "accept",
    wire: { headers: { accept: "application/json" } },
    codes: [undefined, -32600],
  },
  "another content type": {
    rule: "content-type",
    wire: { headers: { "content-type": "text/plain" } },
    codes: [undefined, -32600],
  },
  "a session id": {
    rule: "session",
    wire: { headers: { "mcp-session-id": "1" } },
    codes: [undefined, -32600],
  },
  "a last event id": {
    rule: "session",
    wire: { headers: { "last-event-id": "1" } },
    codes: [undefined, -32600],
  },
  "no version in the envelope": {
    rule: "envelope",
    wire: { meta: { "io.modelcontextprotocol/protocolVersion": undefined } },
    codes: [undefined, -32602],
  },
  "no client info": {
    rule: "envelope",
    wire: { meta: { "io.modelcontextprotocol/clientInfo": { name: "x" } } },
    codes: [undefined, -32602],
  },
  "no capabilities": {
    rule: "envelope",
    wire: { meta: { "io.modelcontextprotocol/clientCapabilities": undefined } },
    codes: [undefined, -32602],
  },
  "F004: the extension directly under _meta": {
    rule: "extension-path",
    wire: { meta: { [extension]: {} } },
    codes: [undefined, -32602],
  },
  "F004: the extension outside extensions": {
    rule: "extension-path",
    wire: { capabilities: { ...everything, [extension]: {} } },
    codes: [undefined, -32602],
  },
  "capabilities.tasks of the earlier generation": {
    rule: "extension-path",
    wire: { capabilities: { ...everything, tasks: {} } },
    codes: [undefined, -32602],
  },
  "a progress token that is an object": {
    rule: "progress-token",
    wire: { meta: { progressToken: {} } },
    codes: [undefined, -32602],
  },
  "a fractional id": { rule: "rpc-shape", wire: { id: 1.5 }, codes: [undefined, -32600] },
  "F019: params.task, which a server has to bear": {
    rule: "params.task",
    params: { ...echo, task: { ttl: 1 } },
    wire: {},
    codes: [undefined, undefined],
  },
  "no version header": {
    rule: "version-header",
    wire: { headers: { "mcp-protocol-version": undefined } },
    codes: [undefined, -32020],
  },
  "another version header": {
    rule: "version-header",
    wire: { headers: { "mcp-protocol-version": "2025-11-25" } },
    codes: [-32020, -32020],
  },
  "F008: no method header": {
    rule: "method-header",
    wire: { headers: { "mcp-method": undefined } },
    codes: [undefined, -32020],
  },
  "another method header": {
    rule: "method-header",
    wire: { headers: { "mcp-method": "tasks/get" } },
    codes: [-32020, -32020],
  },
  "F008: no name header": {
    rule: "name-header",
    wire: { headers: { "mcp-name": undefined } },
    codes: [undefined, -32020],
  },
  "another name header": {
    rule: "name-header",
    wire: { headers: { "mcp-name": "deploy" } },
    codes: [-32020, -32020],
  },
  "a name header that is not ASCII": {
    rule: "name-header",
    params: { name: "écho" },
    wire: { headers: { "mcp-name": "écho" } },
    codes: [-32020, -32020],
  },
  "a mirrored argument without its header": {
    rule: "param-header",
    params: regional({ region: "eu" }),
    wire: {},
    codes: [undefined, -32020],
  },
  "a mirrored argument with another header": {
    rule: "param-header",
    params: regional({ priority: 5 }),
    wire: { headers: { "mcp-param-priority": "6" } },
    codes: [-32020, -32020],
  },
  "a header for an argument that is null": {
    rule: "param-header",
    params: regional({ region: null }),
    wire: { headers: { "mcp-param-region": "null" } },
    codes: [-32020, -32020],
  },
  "a header that no property asks for": {
    rule: "param-header",
    params: echo,
    wire: { headers: { "mcp-param-other": "1" } },
    codes: [undefined, -32020],
  },
};

describe.each(Object.entries(cases))("%s", (_name, { rule, params = echo, wire, codes }) => {
  test.each(["lenient", "strict"] as const)(
    "is recorded by a %s server, and refused where it has to be",
    async (mode) => {
      const server = mode === "lenient" ? lenient : strict;
      const before = server.violations().length;
      const { body } = await send(server.url, "tools/call", params, wire);
      expect(body.error?.code).toBe(codes[mode === "lenient" ? 0 : 1]);
      expect(server.violations().slice(before)).toEqual([
        expect.objectContaining({ rule, method: "tools/call" }),
      ]);
    },
  );
});

describe("what is right is not recorded", () => {
  test("mirrored arguments at their paths, wrapped where they must be", async () => {
    const before = strict.violations().length;
    const headers = {
      "mcp-param-region": "=?base64?w6k=?=",
      "mcp-param-priority": "5",
      "mcp-param-dry-run": "false",
      "mcp-param-zone": "z",
    };
    const args = { region: "é", priority: 5, dry: false, place: { zone: "z" } };
    const { body } = await send(strict.url, "tools/call", regional(args), { headers });
    expect(body.result?.["resultType"]).toBe("task");
    expect(strict.violations().slice(before)).toEqual([]);
  });

  test("F007: hostile task ids in their wrapped headers", async () => {
    const taskIds = ["tâsk", " x", "x\r\ny", "=?base64?eA==?="];
    const server = await spawnTaskServer({ strict: "refuse", taskIds, pollIntervalMs: 1 });
    try {
      for (const taskId of taskIds) {
        expect((await startTask(server.url, "never")).taskId).toBe(taskId);
        expect((await ask(server.url, "tasks/get", { taskId }))["taskId"]).toBe(taskId);
      }
      expect(server.violations()).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});

describe("what is not JSON-RPC over POST", () => {
  test("other HTTP methods and other paths", async () => {
    expect((await fetch(strict.url)).status).toBe(405);
    expect((await fetch(strict.url, { method: "DELETE" })).status).toBe(405);
    expect((await fetch(strict.url.replace("/mcp", "/other"), { method: "POST" })).status).toBe(404);
    expect(strict.log().at(-1)).toMatchObject({
      method: "HTTP DELETE",
      violations: [{ rule: "http-method" }],
    });
  });

  test.each(["{", "[]", '"x"', ""])("the body %j", async (body) => {
    const response = await fetch(strict.url, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32700 } });
  });
});

describe("F034, promise 5: pace", () => {
  test("a poll before its time is recorded everywhere, and refused with 429 where asked for", async () => {
    const task = await startTask(refusing.url, "never");
    const early = await send(refusing.url, "tasks/get", { taskId: task.taskId });
    expect(early.status).toBe(429);
    expect(refusing.violations()).toEqual([expect.objectContaining({ rule: "polite", method: "tasks/get" })]);

    const before = lenient.violations().length;
    const other = await startTask(lenient.url, "never");
    expect((await send(lenient.url, "tasks/get", { taskId: other.taskId })).status).toBe(200);
    expect(lenient.violations().slice(before)).toEqual([expect.objectContaining({ rule: "polite" })]);
  });

  test("F050: two polls of one task at one time", async () => {
    const { taskId } = await startTask(lenient.url, "hints", { intervals: [1], ms: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await lenient.addFault({ kind: "delay", ms: 100, method: "tasks/get", taskId });
    const before = lenient.violations().length;
    await Promise.all([
      send(lenient.url, "tasks/get", { taskId }),
      new Promise((resolve) => setTimeout(resolve, 30)).then(() =>
        send(lenient.url, "tasks/get", { taskId }),
      ),
    ]);
    expect(lenient.violations().slice(before)).toEqual([
      expect.objectContaining({ message: "two polls of one task at one time" }),
    ]);
  });

  test("polls of other tasks are nobody's business", async () => {
    const before = strict.violations().length;
    for (let i = 0; i < 3; i += 1) {
      const { taskId } = await startTask(strict.url, "hints", { intervals: [1], ms: 60_000 });
      await ask(strict.url, "tasks/get", { taskId });
    }
    expect(strict.violations().slice(before)).toEqual([]);
  });

  test("a failed poll counts too: the next one keeps the interval", async () => {
    // Longer than two requests take on any machine.
    const { taskId } = await startTask(lenient.url, "hints", { intervals: [2000], ms: 60_000 });
    await lenient.addFault({ kind: "status", status: 503, method: "tasks/get", taskId });
    await new Promise((resolve) => setTimeout(resolve, 2005));
    const before = lenient.violations().length;
    await send(lenient.url, "tasks/get", { taskId });
    await send(lenient.url, "tasks/get", { taskId });
    expect(lenient.violations().slice(before)).toEqual([expect.objectContaining({ rule: "polite" })]);
  });
});

test("the log names what was sent, but no credential", async () => {
  const headers = { authorization: "Bearer secret", cookie: "a=b", "x-trace": "1" };
  await send(lenient.url, "tools/call", { name: "echo", arguments: { a: 1 } }, { headers, id: "log-1" });
  const entry = lenient.log().at(-1);
  expect(entry).toMatchObject({
    method: "tools/call",
    name: "echo",
    id: "log-1",
    status: 200,
    answer: "complete",
    processed: true,
    params: { name: "echo", arguments: { a: 1 } },
    headers: { "mcp-method": "tools/call", "mcp-name": "echo", "x-trace": "1" },
  });
  expect(JSON.stringify(entry)).not.toMatch(/secret|a=b/);
});
