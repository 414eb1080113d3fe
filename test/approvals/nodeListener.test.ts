import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nodeListener } from "./nodeListener.js";

let server: Server;

beforeAll(async () => {
  server = createServer(nodeListener(async (request) => new Response(new URL(request.url).pathname)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The status of the answer to what is sent as it is; undefined where the connection ended without one. */
function statusOf(firstLine: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    let text = "";
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(`${firstLine} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.once("error", reject);
    socket.once("close", () => {
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
      resolve(status === undefined ? undefined : Number(status));
    });
  });
}

it.each([
  ["TRACE /approvals/tasks", "host.example", 400],
  ["OPTIONS *", "host.example", 400],
  ["GET nowhere://[", "host.example", 400],
  ["GET /approvals/tasks", "a b", 200],
  ["GET /approvals/tasks", "[", 200],
  ["GET /approvals/tasks", "user:secret@host.example", 200],
  ["GET /approvals/tasks", "host.example:99999", 200],
  ["GET //evil.example/approvals/tasks", "host.example", 200],
] as const)("%s with Host: %s is answered (%i), and does not end the process", async (line, host, status) => {
  expect(await statusOf(line, host)).toBe(status);
  // The process would end with an exception that nobody catches, which the test runner reports as well.
  expect(await statusOf("GET /approvals/tasks", "host.example")).toBe(200);
});
