/** What goes out over HTTP: headers, envelope, redirects, options, discovery. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpConnection } from "../../src/connection/http.js";
import type { HttpConnectionOptions } from "../../src/connection/httpOptions.js";
import { ConnectionError, EraNotSupportedError, RpcError } from "../../src/errors.js";
import type { JsonObject } from "../../src/internal/json.js";
import { decodeHeaderValue, readToolsPage, type ToolDescription } from "../../src/protocol/index.js";
import { startRawServer, type LoggedRequest, type RawServer } from "../helpers/rawServer.js";
import { errorText, json, ManualClock, rejection, requestOptions, resultText } from "./support.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.stop());

const ok = json(resultText({ content: [] }));
async function last(path: string): Promise<LoggedRequest> {
  const request = (await server.log(path)).at(-1);
  if (!request) throw new Error("no request came");
  return request;
}

describe("a request", () => {
  it("is one POST with the protocol's headers, its own string id and the envelope", async () => {
    const connection = httpConnection(await server.script("/plain", ok));
    await connection.request("tools/call", { name: "t", arguments: { a: 1 } }, requestOptions);
    await connection.request("tasks/get", { taskId: "task-0001" }, requestOptions);
    const [call, get] = await server.log("/plain");
    expect(call).toMatchObject({
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "t",
      },
    });
    expect(get?.headers).toMatchObject({ "mcp-method": "tasks/get", "mcp-name": "task-0001" });
    const [first, second] = [call, get].map((request) => JSON.parse(request?.body ?? "") as { id: unknown });
    expect(first?.id).toBe("mcp-taskrail-1");
    expect(second?.id).toBe("mcp-taskrail-2");
  });

  it("F007: odd ids travel wrapped in the header, and unchanged in the body", async () => {
    const connection = httpConnection(await server.script("/odd", { ...ok, strict: {} }));
    for (const taskId of ["tâsk", " x", "x\r\ny", "=?base64?eA==?=", "🚆", "x\ty "]) {
      await connection.request("tasks/get", { taskId }, requestOptions);
      const request = await last("/odd");
      expect(decodeHeaderValue(request.headers["mcp-name"] ?? "")).toBe(taskId);
      expect((JSON.parse(request.body) as { params: JsonObject }).params["taskId"]).toBe(taskId);
    }
  });

  it("F008: a strict peer takes the whole lifecycle", async () => {
    const connection = httpConnection(await server.script("/strict", { ...ok, strict: {} }));
    await connection.request("server/discover", {}, requestOptions);
    await connection.request("tools/list", {}, requestOptions);
    await connection.request("tools/call", { name: "größe" }, requestOptions);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      await connection.request(method, { taskId: "t ä" }, requestOptions);
    }
  });

  it("F004, F019: declares the extension at its exact path only, and carries no task hint", async () => {
    const connection = httpConnection(await server.script("/golden", ok));
    for (const method of [
      "tools/call",
      "tasks/get",
      "tasks/update",
      "tasks/cancel",
      "subscriptions/listen",
    ]) {
      await connection.request(method, { name: "t", taskId: "task-0001" }, requestOptions);
      const { params } = JSON.parse((await last("/golden")).body) as { params: Record<string, JsonObject> };
      const meta = params["_meta"] ?? {};
      expect(meta["io.modelcontextprotocol/clientCapabilities"]).toEqual(requestOptions.capabilities);
      expect(meta["io.modelcontextprotocol/protocolVersion"]).toBe("2026-07-28");
      expect(meta["io.modelcontextprotocol/clientInfo"]).toEqual({ name: "test-host", version: "1.2.3" });
      expect(Object.keys(meta)).not.toContain("io.modelcontextprotocol/tasks");
      expect(params).not.toHaveProperty("task");
    }
  });

  it("passes trace context on, while the envelope's keys win", async () => {
    const connection = httpConnection(await server.script("/trace", ok));
    const meta = {
      traceparent: "00-1-2-01",
      baggage: "a=b",
      progressToken: "mine",
      "io.modelcontextprotocol/protocolVersion": "1900-01-01",
    };
    await connection.request("tools/call", { name: "t" }, { ...requestOptions, meta });
    const { params } = JSON.parse((await last("/trace")).body) as { params: { _meta: JsonObject } };
    expect(params._meta).toMatchObject({
      traceparent: "00-1-2-01",
      baggage: "a=b",
      progressToken: "mine",
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    });
  });

  it("asks for progress only where it can be heard", async () => {
    const connection = httpConnection(await server.script("/progress", ok));
    const token = async (): Promise<unknown> =>
      (JSON.parse((await last("/progress")).body) as { params: { _meta: JsonObject } }).params._meta[
        "progressToken"
      ];
    await connection.request("tasks/get", { taskId: "task-0001" }, requestOptions);
    expect(await token()).toBeUndefined();
    await connection.request("tools/call", { name: "t" }, requestOptions);
    expect(await token()).toBe("mcp-taskrail-2");
    await connection.request("tools/list", {}, { ...requestOptions, onNotice: () => undefined });
    expect(await token()).toBe("mcp-taskrail-3");
  });
});

describe("x-mcp-header, against a strict peer", () => {
  const [tool] = readToolsPage({
    tools: [
      {
        name: "deploy",
        inputSchema: {
          type: "object",
          properties: {
            region: { type: "string", "x-mcp-header": "Region" },
            count: { type: "integer", "x-mcp-header": "Count" },
            dry: { type: "boolean", "x-mcp-header": "Dry" },
            target: { type: "object", properties: { zone: { type: "string", "x-mcp-header": "Zone" } } },
          },
        },
      },
    ],
  }).tools;
  const strict = { Region: ["region"], Count: ["count"], Dry: ["dry"], Zone: ["target", "zone"] };
  const call = async (args: JsonObject, listed: ToolDescription | undefined): Promise<JsonObject> => {
    const connection = httpConnection(await server.script("/mirror", { ...ok, strict }));
    return connection.request(
      "tools/call",
      { name: "deploy", arguments: args },
      { ...requestOptions, tool: listed },
    );
  };

  for (const args of [
    { region: "eu", count: 42, dry: false, target: { zone: "a" } },
    { region: "Zürich \n", count: -1, dry: true, target: { zone: "=?base64?eA==?=" } },
    { region: null, target: {} },
    { count: 9007199254740991 },
    {},
  ]) {
    it(`accepts ${JSON.stringify(args)}`, async () => {
      expect(await call(args, tool)).toEqual({ content: [] });
    });
  }

  it("refuses a call that does not mirror", async () => {
    const error = await rejection(call({ region: "eu" }, undefined));
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({ rpcCode: -32020, status: 400 });
  });
});

describe("the host's headers", () => {
  it("are asked for before every request; the request's own and the protocol's win", async () => {
    let asked = 0;
    const connection = httpConnection(await server.script("/headers", ok), {
      headers: async () => {
        asked += 1;
        return {
          Authorization: `Bearer ${asked}`,
          "X-Host": "a",
          "Mcp-Method": "forged",
          ACCEPT: "text/html",
        };
      },
    });
    await connection.request("tools/list", {}, requestOptions);
    await connection.request("tools/list", {}, { ...requestOptions, headers: { "x-host": "b" } });
    const [first, second] = await server.log("/headers");
    expect(first?.headers).toMatchObject({
      authorization: "Bearer 1",
      "x-host": "a",
      "mcp-method": "tools/list",
    });
    expect(first?.headers["accept"]).toBe("application/json, text/event-stream");
    expect(second?.headers).toMatchObject({ authorization: "Bearer 2", "x-host": "b" });
  });

  it("that cannot be sent are named without their value", async () => {
    const secret = "Bearer s3cr3t\r\nx: y";
    expect(() => httpConnection(server.origin, { headers: { authorization: secret } })).toThrow(
      new TypeError("headers: the value of authorization is not a header value"),
    );
    const connection = httpConnection(server.origin, { headers: () => ({ authorization: secret }) });
    const error = (await rejection(connection.request("tools/list", {}, requestOptions))) as ConnectionError;
    expect(error).toMatchObject({ mayHaveRun: false });
    expect(`${error.message} ${String(error.cause)}`).not.toContain("s3cr3t");
  });
});

describe("redirects", () => {
  const to = (location: string, status = 307): { status: number; headers: { location: string } } => ({
    status,
    headers: { location },
  });

  for (const status of [307, 308]) {
    it(`${status} within the origin: the same POST again`, async () => {
      await server.script("/moved/here", { ...ok, strict: {} });
      const connection = httpConnection(await server.script("/from", to("moved/here?x=1", status)), {
        headers: { authorization: "Bearer s3cr3t" },
      });
      await connection.request("tools/call", { name: "t" }, requestOptions);
      const [from, here] = [await last("/from"), await last("/moved/here")];
      expect(here.method).toBe("POST");
      expect(here.body).toBe(from.body);
      expect(here.headers["authorization"]).toBe("Bearer s3cr3t");
    });
  }

  it("to another origin are refused: no credential leaves", async () => {
    await server.script("/elsewhere", ok);
    for (const location of [
      `${server.otherOrigin}/elsewhere`,
      "//127.0.0.1:1/elsewhere",
      "https://other.invalid/",
    ]) {
      const connection = httpConnection(await server.script("/cross", to(location)), {
        headers: { authorization: "Bearer s3cr3t" },
      });
      const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
      expect(error).toBeInstanceOf(ConnectionError);
      expect((error as Error).message).toContain("another origin");
    }
    expect(await server.log("/elsewhere")).toEqual([]);
  });

  for (const status of [301, 302, 303, 304]) {
    it(`${status} is not followed`, async () => {
      const connection = httpConnection(await server.script("/other-status", to("/elsewhere", status)));
      const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
      expect(error).toMatchObject({ code: "CONNECTION", status });
      expect(await server.log("/elsewhere")).toEqual([]);
    });
  }

  it("end after five", async () => {
    const connection = httpConnection(await server.script("/loop", to("/loop")));
    const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
    expect((error as Error).message).toContain("more than 5 times");
    expect(await server.log("/loop")).toHaveLength(6);
  });

  it("without a usable target, or to a URL with a password, are refused", async () => {
    const { host } = new URL(server.origin);
    for (const location of ["http://[", `http://u:s3cr3t@${host}/elsewhere`]) {
      const connection = httpConnection(await server.script("/broken", to(location)));
      const error = await rejection(connection.request("tools/list", {}, requestOptions));
      expect(error).toBeInstanceOf(ConnectionError);
      expect((error as Error).message).not.toContain("s3cr3t");
    }
  });

  it("that a browser hides are an error", async () => {
    const opaque = { status: 0, type: "opaqueredirect", headers: new Headers(), body: null };
    const connection = httpConnection(server.origin, { fetch: () => Promise.resolve(opaque) });
    const error = await rejection(connection.request("tools/list", {}, requestOptions));
    expect((error as Error).message).toContain("cannot be followed here");
  });
});

describe("identity", () => {
  it("is the URL without query, fragment and trailing slash, unless given", () => {
    expect(httpConnection("https://Host.example/mcp/?token=1#x").identity).toBe("https://host.example/mcp");
    expect(httpConnection(new URL("https://host.example")).identity).toBe("https://host.example");
    expect(httpConnection("https://host.example", { identity: "mine" }).identity).toBe("mine");
  });
});

describe("unusable options are TypeError naming option and value", () => {
  const cases: [unknown, string][] = [
    [{ timeoutMs: 0 }, "timeoutMs must be a positive number of milliseconds, not 0"],
    [{ timeoutMs: NaN }, "timeoutMs must be a positive number of milliseconds, not NaN"],
    [{ timeoutMs: "5" }, 'timeoutMs must be a positive number of milliseconds, not "5"'],
    [{ maxResponseBytes: -1 }, "maxResponseBytes must be a positive integer, not -1"],
    [{ maxResponseBytes: Infinity }, "maxResponseBytes must be a positive integer, not Infinity"],
    [{ identity: "" }, 'identity must be a non-empty string, not ""'],
    [{ fetch: "x" }, 'fetch must be a function, not "x"'],
    [{ clock: {} }, "clock must be a Clock, not an object"],
    [{ headers: "Bearer s3cr3t" }, "headers must be an object or a function, not a string"],
    [null, "options must be an object, not null"],
  ];
  for (const [options, message] of cases) {
    it(message, () => {
      expect(() => httpConnection("https://host.example", options as HttpConnectionOptions)).toThrow(
        new TypeError(message),
      );
    });
  }

  it("a URL is never quoted: it may hold a password", () => {
    for (const url of ["user:s3cr3t@host", "https://user:s3cr3t@host.example/", "ftp://s3cr3t.example", 5]) {
      let message = "";
      try {
        httpConnection(url as string);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
        message = (error as Error).message;
      }
      expect(message).toMatch(/^url must /);
      expect(message).not.toContain("s3cr3t");
    }
  });

  it("a request's timeoutMs", async () => {
    const connection = httpConnection(server.origin);
    const error = await rejection(connection.request("tools/list", {}, { ...requestOptions, timeoutMs: -1 }));
    expect(error).toBeInstanceOf(TypeError);
  });
});

describe("discover", () => {
  const description = (more: object): JsonObject => ({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "ci", version: "3" } },
    ...more,
  });

  it("tells who the server is, and keeps it for its ttlMs", async () => {
    const clock = new ManualClock();
    const connection = httpConnection(
      await server.script("/discover", json(resultText(description({ ttlMs: 1000 })))),
      { clock },
    );
    expect(await connection.discover(requestOptions)).toMatchObject({
      name: "ci",
      version: "3",
      tasks: true,
    });
    clock.advance(999);
    await connection.discover(requestOptions);
    expect(await server.log("/discover")).toHaveLength(1);
    clock.advance(1);
    await connection.discover(requestOptions);
    expect(await server.log("/discover")).toHaveLength(2);
  });

  for (const ttlMs of [0, -5, "1000", undefined]) {
    it(`keeps nothing with ttlMs ${JSON.stringify(ttlMs)}`, async () => {
      const path = `/discover/${String(ttlMs)}`;
      const connection = httpConnection(await server.script(path, json(resultText(description({ ttlMs })))));
      await connection.discover(requestOptions);
      await connection.discover(requestOptions);
      expect(await server.log(path)).toHaveLength(2);
    });
  }

  it("refuses a server that lists other versions only, and keeps no failure", async () => {
    const old = description({ supportedVersions: ["2025-11-25"], ttlMs: 1000 });
    const url = await server.script(
      "/discover/old",
      json(resultText(old)),
      json(errorText({ code: -32603, message: "x" })),
      json(resultText(description({}))),
    );
    const connection = httpConnection(url, { earlier: "never" });
    const error = await rejection(connection.discover(requestOptions));
    expect(error).toBeInstanceOf(EraNotSupportedError);
    expect((error as EraNotSupportedError).supported).toEqual(["2025-11-25"]);
    expect(await rejection(connection.discover(requestOptions))).toMatchObject({ rpcCode: -32603 });
    expect(await connection.discover(requestOptions)).toMatchObject({ name: "ci" });
  });
});
