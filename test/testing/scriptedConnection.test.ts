import { describe, expect, test } from "vitest";
import { ConnectionError, RpcError } from "../../src/errors.js";
import { fakeClock, scriptedConnection } from "../../src/testing/index.js";

const options = { clientInfo: { name: "test", version: "1" }, capabilities: {} };

describe("scriptedConnection", () => {
  test("a list is answered step by step, its last step stays, and requests are recorded with their time", async () => {
    const clock = fakeClock();
    const connection = scriptedConnection(
      {
        "tasks/get": [
          { status: "working" },
          new ConnectionError("503", { mayHaveRun: true }),
          { status: "completed" },
        ],
      },
      { clock },
    );
    expect(await connection.request("tasks/get", { taskId: "t" }, options)).toEqual({ status: "working" });
    await clock.advance(70);
    await expect(connection.request("tasks/get", { taskId: "t" }, options)).rejects.toThrow(ConnectionError);
    expect(await connection.request("tasks/get", { taskId: "t" }, options)).toEqual({ status: "completed" });
    expect(await connection.request("tasks/get", { taskId: "t" }, options)).toEqual({ status: "completed" });
    expect(connection.requestsOf("tasks/get").map(({ atMs }) => atMs)).toEqual([0, 70, 70, 70]);
    expect(connection.requests[0]).toMatchObject({ method: "tasks/get", params: { taskId: "t" }, options });
  });

  test("a function sees the request and its number", async () => {
    const connection = scriptedConnection({ echo: ({ params }, n) => ({ ...params, n }) });
    expect(await connection.request("echo", { a: 1 }, options)).toEqual({ a: 1, n: 0 });
    expect(await connection.request("echo", { a: 2 }, options)).toEqual({ a: 2, n: 1 });
  });

  test("a hanging request ends by abort with the caller's reason, by its timeout, or by close", async () => {
    const clock = fakeClock();
    const connection = scriptedConnection({ slow: "hang" }, { clock });
    const controller = new AbortController();
    const reason = new Error("mine");
    const aborted = connection.request("slow", {}, { ...options, signal: controller.signal });
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);

    const timedOut = connection.request("slow", {}, { ...options, timeoutMs: 5000 });
    const outcome = expect(timedOut).rejects.toThrow(ConnectionError);
    await clock.advance(5000);
    await outcome;

    const closed = connection.request("slow", {}, { ...options, timeoutMs: 5000 });
    expect(connection.open).toBe(1);
    await connection.close();
    await expect(closed).rejects.toThrow(ConnectionError);
    expect([connection.open, clock.timers]).toEqual([0, 0]);
    await expect(connection.request("slow", {}, options)).rejects.toMatchObject({ mayHaveRun: false });
  });

  test("what has no script is not found, and a script can be replaced", async () => {
    const connection = scriptedConnection({});
    await expect(connection.request("tasks/get", {}, options)).rejects.toThrow(RpcError);
    connection.script("tasks/get", { ok: true });
    expect(await connection.request("tasks/get", {}, options)).toEqual({ ok: true });
  });

  test("discover tells of a server with tasks unless told otherwise", async () => {
    expect((await scriptedConnection({}).discover(options)).tasks).toBe(true);
    expect((await scriptedConnection({}, { description: { tasks: false } }).discover(options)).tasks).toBe(
      false,
    );
  });
});
