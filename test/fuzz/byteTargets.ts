/** Owns the targets that read bytes: bodies in JSON and as server-sent events, and what stores hold. */
import { readAnswer, type AnswerContext } from "../../src/connection/httpAnswer.js";
import { readListenAnswer } from "../../src/connection/httpListen.js";
import type { ResponseLike } from "../../src/connection/httpOptions.js";
import { readEvents } from "../../src/connection/sse.js";
import { readCallAnswer } from "../../src/protocol/index.js";
import { encryptedStore } from "../../src/store/encrypted.js";
import { decodeEntry, encodeEntry, keyBytes } from "../../src/store/lmdbEntry.js";
import { readRecord, writeRecord } from "../../src/task/record.js";
import { record } from "../store/records.js";
import { judgedAsync, must, sameJson, type ByteTarget, type Verdict } from "./guard.js";
import { PLANTED } from "./hostile.js";

const utf8 = (text: string): Buffer => Buffer.from(text, "utf8");
/** Small, so that many inputs meet the limit. */
const MAX_BYTES = 600;

const context: AnswerContext = {
  id: "id-1",
  method: "tools/call",
  params: { name: "t", taskId: PLANTED },
  credentials: [PLANTED],
  maxBytes: MAX_BYTES,
  signal: new AbortController().signal,
  nowMs: 1_790_000_000_000,
  modern: false,
  onNotice: () => undefined,
};

function response(chunks: Uint8Array[], status: number, type: string): ResponseLike {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
  return { status, headers: { get: (name) => (name === "content-type" ? type : null) }, body };
}

const task = {
  resultType: "task",
  taskId: "t-1",
  status: "working",
  ttlMs: null,
  pollIntervalMs: 100,
  createdAt: "2026-08-01T00:00:00Z",
  lastUpdatedAt: "2026-08-01T00:00:00Z",
};
const results: readonly unknown[] = [
  { content: [{ type: "text", text: "fertig ü€𝄞" }], structuredContent: { a: [1, 2.5, null, true] } },
  task,
  { resultType: "input_required", requestState: "s", inputRequests: { k: { method: "roots/list" } } },
];
const messages = [
  ...results.map((result) => JSON.stringify({ jsonrpc: "2.0", id: "id-1", result })),
  JSON.stringify({ jsonrpc: "2.0", id: "id-1", error: { code: -32602, message: `no ${PLANTED}`, data: {} } }),
];
const notice = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", method, params });
const progress = notice("notifications/progress", { progressToken: "id-1", progress: 1 });

function stream(eol: string, ...events: string[]): Buffer {
  return utf8(
    events.map((data) => `event: message${eol}id: 1${eol}data: ${data}${eol}${eol}`).join(`: hi${eol}`),
  );
}

const STATUSES = [200, 200, 200, 200, 200, 201, 202, 204, 400, 401, 404, 429, 500, 503, 100, 999];
const TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "application/problem+json",
  "text/html",
  "",
];

async function readBody(chunks: Uint8Array[], status: number, type: string): Promise<Verdict> {
  return judgedAsync(async () => {
    const answer = await readAnswer(response(chunks, status, type), context);
    if (answer.kind === "result") readCallAnswer(answer.result);
    must(answer.kind === "result" || answer.kind === "error", "no answer");
  });
}

const LISTEN = [
  notice("notifications/subscriptions/acknowledged", { notifications: { taskIds: ["t-1"] } }),
  notice("notifications/tasks", { ...task, status: "completed", result: { content: [] } }),
  JSON.stringify({ jsonrpc: "2.0", id: "id-1", result: { resultType: "complete" } }),
];

async function listenTo(chunks: Uint8Array[]): Promise<Verdict> {
  let acknowledged = 0;
  let early = false;
  return judgedAsync(async () => {
    const answer = await readListenAnswer(response(chunks, 200, "text/event-stream"), {
      ...context,
      taskIds: ["t-1", "t-2"],
      told: {
        onAcknowledged(ids) {
          acknowledged += 1;
          must(
            ids.every((id) => id === "t-1" || id === "t-2"),
            "an id that was not asked for",
          );
        },
        onNotice: () => void (early ||= acknowledged === 0),
        onLife: () => undefined,
      },
    });
    must(answer.kind === "result" || answer.kind === "error", "no end");
  }).finally(() => must(acknowledged <= 1 && !early, "acknowledged twice, or told before"));
}

/** However the bytes are cut, the events are the same. */
async function events(bytes: Buffer, chunks: Uint8Array[]): Promise<Verdict> {
  const read = async (parts: Uint8Array[]): Promise<string[]> => {
    const found: string[] = [];
    const { body } = response(parts, 200, "");
    for await (const event of readEvents(body ?? new ReadableStream(), { maxEventBytes: MAX_BYTES }))
      found.push(event.data);
    return found;
  };
  let inOne: string[] | undefined;
  const one = await judgedAsync(async () => (inOne = await read([Uint8Array.from(bytes)])));
  let inChunks: string[] | undefined;
  const verdict = await judgedAsync(async () => (inChunks = await read(chunks)));
  // The limit may strike earlier or later by where the chunks end.
  if (one === "accepted" && verdict === "accepted") sameJson(inOne, inChunks, "the events of the same bytes");
  return verdict === "accepted" && (inChunks?.length ?? 0) > 0 ? "accepted" : "refused";
}

const records = [
  record("a"),
  record("b", {
    phase: "settled",
    taskId: "t-1",
    outcome: { status: "completed", result: { content: [] } },
    context: { a: [1, "ü€𝄞"] },
  }),
].map((one) => utf8(writeRecord(one)));

function readStored(bytes: Buffer): Verdict {
  const read = readRecord(bytes.toString("utf8"));
  if (!read.ok) {
    must(!read.message.includes(PLANTED), "a message shows a secret");
    return "refused";
  }
  const again = readRecord(writeRecord(read.record));
  must(again.ok, "a record that was read cannot be read again");
  sameJson(again.record, read.record, "a record, read again");
  return "accepted";
}

const KEY = "default:entry";
const encryptionKey = new Uint8Array(32).fill(7);
const PLAIN = `{"v":1,"secret":"${PLANTED}"}`;
const sealed = await (async () => {
  const inner = new Map<string, unknown>();
  const store = encryptedStore(inner, encryptionKey);
  await store.set(KEY, PLAIN, undefined);
  const [entry] = [...inner];
  return { storeKey: entry?.[0] ?? "", value: entry?.[1] };
})();

/** Nothing but the whole text comes out, whatever is changed. */
async function decrypt(bytes: Buffer): Promise<Verdict> {
  const text = bytes.toString("latin1");
  const inner = new Map<string, unknown>([[sealed.storeKey, text]]);
  const store = encryptedStore(inner, encryptionKey);
  const got = await store.get(KEY);
  must(got !== undefined, "an entry that is there reads as absent");
  if (got === PLAIN) return "accepted";
  must(!got.includes(PLANTED), "a changed value was decrypted");
  await store.explainUnreadable?.(got);
  return "refused";
}

const lmdbKeys = ["default:a", "k".repeat(3000), "\ud800"].map((key) => ({ key, bytes: keyBytes(key) }));
const lmdbBases = lmdbKeys.flatMap(({ key, bytes }) =>
  ["text ü€𝄞", { a: [1, null] }, new Uint8Array([1, 2, 3]), "\ud800"].map((value) =>
    encodeEntry({ key, value, expiresAtMs: 1_790_000_000_000 }, bytes),
  ),
);

function decode(stored: Buffer, at: number): Verdict {
  const { bytes } = lmdbKeys[at % lmdbKeys.length] ?? { bytes: keyBytes("a") };
  const entry = decodeEntry(stored, bytes);
  const again = decodeEntry(encodeEntry(entry, bytes), bytes);
  sameJson(again.value, entry.value, "a value, decoded again");
  must(entry.value !== undefined, "a value that reads as absent");
  return entry.expiresAtMs === Infinity ? "refused" : "accepted";
}

export const byteTargets: readonly ByteTarget[] = [
  {
    kind: "bytes",
    name: "JSON body",
    weight: 10,
    bases: messages.map(utf8),
    run: (_bytes, chunks, { extra }) =>
      readBody(
        chunks,
        STATUSES[extra % STATUSES.length] ?? 200,
        extra % 7 === 0 ? (TYPES[extra % TYPES.length] ?? "") : "application/json",
      ),
  },
  {
    kind: "bytes",
    name: "SSE answer",
    weight: 10,
    bases: ["\n", "\r\n", "\r"].flatMap((eol) => messages.map((one) => stream(eol, progress, one))),
    run: (_bytes, chunks) => readBody(chunks, 200, "text/event-stream"),
  },
  {
    kind: "bytes",
    name: "listen stream",
    weight: 8,
    bases: ["\n", "\r\n", "\r"].map((eol) => stream(eol, ...LISTEN)),
    run: (_bytes, chunks) => listenTo(chunks),
  },
  {
    kind: "bytes",
    name: "SSE events, cut anywhere",
    weight: 6,
    bases: ["\n", "\r\n", "\r"].map((eol) =>
      Buffer.concat([utf8("\ufeff"), stream(eol, "ü€𝄞", "{}", "a\ndata: b")]),
    ),
    run: events,
  },
  { kind: "bytes", name: "stored record", weight: 8, bases: records, run: readStored },
  {
    kind: "bytes",
    name: "encrypted value",
    weight: 3,
    bases: [Buffer.from(String(sealed.value), "latin1")],
    run: decrypt,
  },
  {
    kind: "bytes",
    name: "lmdb entry",
    weight: 5,
    bases: lmdbBases,
    run: (bytes, _chunks, { extra }) => decode(bytes, extra),
  },
];
