import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/index.js";
import { form, startRaw, stopServers, yes, type RawLegacy } from "../../helpers/legacy.js";
import { compilePrograms, type Programs, type Running } from "../../process/programs.js";
import type { LegacyHostInput } from "./host.js";

let programs: Programs;
let stores = 0;

beforeAll(() => {
  programs = compilePrograms();
});
afterEach(stopServers);
afterAll(() => programs.remove());

/** Starts hosts, one after the other, on one store. */
function hostOn(server: RawLegacy): (more: Omit<LegacyHostInput, "url" | "storePath">) => Running {
  stores += 1;
  const storePath = join(programs.folder, `store-${stores}`);
  return (more) => programs.start("test/connection/legacy/host.ts", { url: server.url, storePath, ...more });
}

const call = (task: JsonObject = {}): { name: string; arguments: JsonObject } => ({
  name: "must",
  arguments: { questions: [form()], task },
});

interface ServerTask {
  readonly status: string;
  readonly questions: { readonly answers: unknown[] }[];
}

test("killed with a question open: the new process, in a new session, asks it once, as the same question", async () => {
  const server = await startRaw();
  const start = hostOn(server);
  const first = start({ call: call() });
  const key = await first.line("asked");
  await first.kill();
  const second = start({});
  await second.line("tracking");
  await polls(server, 5);
  const { stdout } = await second.kill();
  expect(stdout.match(/^asked .*$/gm)).toEqual([`asked ${key}`]);
  const last = start({ answer: yes });
  expect(await last.line("result")).toContain(JSON.stringify(JSON.stringify([yes])));
  expect((await last.ended).stdout.match(/^asked .*$/gm)).toEqual([`asked ${key}`]);
  expect(await server.received("tools/call")).toHaveLength(1);
  expect(await server.received("initialize")).toHaveLength(3);
});

test("killed with an answer stored but not delivered: the question asked again has its answer, and no person is asked", async () => {
  const server = await startRaw({ refuseAnswers: true });
  const start = hostOn(server);
  const first = start({ call: call(), answer: yes });
  await first.line("asked");
  // The answer is stored before it is sent.
  await expect.poll(async () => answersSent(server)).toBeGreaterThan(0);
  await first.kill();
  await server.control("set", { refuseAnswers: false });
  const second = start({});
  expect(await second.line("result")).toContain(JSON.stringify(JSON.stringify([yes])));
  expect((await second.ended).stdout).not.toContain("asked");
});

test("killed after the answer was delivered: an identical question later is asked anew", async () => {
  const server = await startRaw();
  const start = hostOn(server);
  const first = start({ call: call({ holds: true }), answer: yes });
  const key = await first.line("asked");
  await expect.poll(async () => (await server.control<ServerTask[]>("tasks"))[0]?.status).toBe("working");
  await polls(server, 2);
  await first.kill();
  const second = start({});
  await second.line("tracking");
  await server.control("ask", { question: form() });
  expect(await second.line("asked")).not.toBe(key);
  await second.kill();
  const [task] = await server.control<ServerTask[]>("tasks");
  expect(task?.questions[1]?.answers).toEqual([]);
});

test("killed while the task works: the new process gets its result, in a new session", async () => {
  const server = await startRaw();
  const start = hostOn(server);
  const first = start({ call: { name: "must", arguments: {} } });
  await first.line("tracking");
  await first.kill();
  await server.control("finish", { result: { content: [{ type: "text", text: "late" }] } });
  const second = start({});
  expect(JSON.parse(await second.line("result"))).toEqual({ content: [{ type: "text", text: "late" }] });
  expect(await server.received("tools/call")).toHaveLength(1);
});

/** Waits for so many more polls. */
async function polls(server: RawLegacy, more: number): Promise<void> {
  const before = (await server.received("tasks/get")).length;
  await expect
    .poll(async () => (await server.received("tasks/get")).length)
    .toBeGreaterThanOrEqual(before + more);
}

async function answersSent(server: RawLegacy): Promise<number> {
  const log = await server.control<{ from?: string; message: { method?: string } }[]>("log");
  return log.filter(({ from, message }) => from !== undefined && message.method === undefined).length;
}
