// Owns a plain HTTP server that does to a client whatever a test scripts, byte by byte. It knows nothing of MCP but
// the JSON-RPC id, and, where a script asks for it, the rules by which a strict peer compares headers with the body.
import { createServer } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";

/** path -> { responses, next } */
const scripts = new Map();
/** path -> requests as they came */
const logs = new Map();
/** name -> { promise, release } */
const gates = new Map();

function gate(name) {
  if (!gates.has(name)) {
    let release;
    const promise = new Promise((resolve) => (release = resolve));
    gates.set(name, { promise, release });
  }
  return gates.get(name);
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function control(path, request, response) {
  const [, action, ...rest] = path.slice(1).split("/");
  const name = `/${rest.join("/")}`;
  const body = await readBody(request);
  if (action === "script") scripts.set(name, { responses: JSON.parse(body), next: 0 });
  if (action === "release") gate(name).release();
  const answer = action === "log" ? (logs.get(name) ?? []) : null;
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

function pick(script, request, body) {
  const fits = ({ ifHeader, ifBody }) =>
    (ifHeader && request.headers[ifHeader.name] === ifHeader.value) || (ifBody && body.includes(ifBody));
  const conditional = script.responses.find(fits);
  if (conditional) return conditional;
  const others = script.responses.filter(({ ifHeader, ifBody }) => !ifHeader && !ifBody);
  const chosen = others[Math.min(script.next, others.length - 1)];
  script.next += 1;
  return chosen;
}

function decoded(value) {
  const match = /^=\?base64\?(.*)\?=$/.exec(value ?? "");
  return match ? Buffer.from(match[1], "base64").toString("utf8") : value;
}

/** What a strict peer objects to, or undefined. `params`: header suffix -> path of the argument. */
function mismatch(request, message, params) {
  const { headers } = request;
  const meta = message.params?._meta ?? {};
  if (headers["mcp-protocol-version"] !== meta["io.modelcontextprotocol/protocolVersion"]) return "version";
  if (headers["mcp-method"] !== message.method) return "method";
  const name = message.method === "tools/call" ? message.params.name : message.params.taskId;
  if (decoded(headers["mcp-name"]) !== name) return "name";
  for (const [suffix, path] of Object.entries(params)) {
    const value = path.reduce((at, key) => at?.[key], message.params.arguments);
    const header = headers[`mcp-param-${suffix.toLowerCase()}`];
    const expected = value === undefined || value === null ? undefined : String(value);
    if (decoded(header) !== expected) return `param ${suffix}`;
  }
  const known = new Set(Object.keys(params).map((suffix) => `mcp-param-${suffix.toLowerCase()}`));
  return Object.keys(headers).find((header) => header.startsWith("mcp-param-") && !known.has(header));
}

function drained(response) {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

async function play(response, steps, id) {
  const fill = (text) => text.replaceAll("{{id}}", id);
  for (const step of steps) {
    if (response.destroyed) return;
    if (step.text !== undefined) response.write(fill(step.text));
    if (step.base64 !== undefined) response.write(Buffer.from(step.base64, "base64"));
    if (step.gate !== undefined) await gate(`/${step.gate}`).promise;
    if (step.everyByte !== undefined) {
      for (const byte of Buffer.from(fill(step.everyByte))) {
        response.write(Buffer.of(byte));
        await nextTurn();
      }
    }
    if (step.repeat !== undefined) {
      const chunk = Buffer.from(step.repeat.text.repeat(step.repeat.perWrite ?? 1));
      for (let i = 0; i < step.repeat.writes && !response.destroyed; i += 1) {
        if (!response.write(chunk)) await drained(response);
      }
    }
    if (step.destroy) {
      // What was written must be on its way first.
      await nextTurn();
      response.socket?.destroy();
      return;
    }
    if (step.hang) return;
  }
  response.end();
}

async function serve(request, response) {
  const path = new URL(request.url, "http://localhost").pathname;
  if (path.startsWith("/control/")) return control(path, request, response);
  const body = await readBody(request);
  const entry = { method: request.method, url: request.url, headers: request.headers, body, closed: false };
  logs.set(path, [...(logs.get(path) ?? []), entry]);
  response.on("close", () => (entry.closed = !response.writableFinished));
  const script = scripts.get(path);
  if (!script) return response.writeHead(404).end();
  let message = {};
  try {
    message = JSON.parse(body);
  } catch {
    // Token endpoints take forms.
  }
  const chosen = pick(script, request, body);
  if (chosen.strict) {
    const why = mismatch(request, message, chosen.strict);
    if (why !== undefined) {
      const error = { code: -32020, message: `Header mismatch: ${why}` };
      response.writeHead(400, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
    }
  }
  if (chosen.destroy) return request.socket.destroy();
  response.writeHead(chosen.status ?? 200, chosen.headers ?? {});
  response.flushHeaders();
  await play(response, chosen.steps ?? [], String(message.id));
}

const listen = async () => {
  const server = createServer((request, response) => {
    serve(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server.address().port;
};

// Two ports are two origins.
console.log(JSON.stringify([await listen(), await listen()]));
// The parent's end is ours.
process.stdin.resume().on("end", () => process.exit(0));
