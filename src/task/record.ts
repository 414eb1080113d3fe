/** Owns the record: what is kept of one call, its versions, and how old ones are upgraded. No I/O, no clock. */
import { z } from "zod";
import { isObject, type JsonObject, type JsonValue } from "../internal/json.js";

/** The version that is written. Raise it with every change that older code would misread, and add an upgrade. */
export const RECORD_VERSION = 1;

const json = z.custom<JsonValue>((value) => value !== undefined);
const jsonObject = z.custom<JsonObject>(isObject);
const atMs = z.number();

const questionSchema = z.object({
  key: z.string(),
  method: z.string(),
  /** The request's params; dropped once the question is over, but for the text that people saw. */
  params: jsonObject.optional(),
  message: z.string().optional(),
  /** Of method and params: tells a repeated question from a changed one. */
  digest: z.string(),
  askedAtMs: atMs,
  /**
   * open: waits for an answer. answered: stored, not acknowledged yet. acked: the server acknowledged it.
   * refused: the server refused the answer (-32602). closed: over; the key is kept so that it is never asked again.
   */
  state: z.enum(["open", "answered", "acked", "refused", "closed"]),
  /** Once it is over only of elicitations, and only where it is short. */
  response: jsonObject.optional(),
  answeredAtMs: atMs.optional(),
  /** Whoever the host says answered. */
  by: z.string().optional(),
  /** How the answer came: through `onInputRequest`, through `respond`, or by the option `unanswered`. */
  source: z.enum(["handler", "respond", "policy"]).optional(),
  ackedAtMs: atMs.optional(),
  /** How often the answer was sent again after an acknowledgement that proved nothing. */
  resent: z.number().optional(),
  /** True once the host was told that the server does not take the answer. */
  reported: z.boolean().optional(),
});

const snapshotSchema = z.looseObject({
  taskId: z.string(),
  status: z.string(),
  statusMessage: z.string().optional(),
  createdAt: z.string().optional(),
  lastUpdatedAt: z.string().optional(),
  ttlMs: z.number().nullable(),
  pollIntervalMs: z.number().optional(),
});

const rpcErrorSchema = z.object({ code: z.number(), message: z.string(), data: json.optional() });

const outcomeSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("completed"), result: jsonObject }),
  z.object({ status: z.literal("failed"), error: rpcErrorSchema }),
  z.object({ status: z.literal("cancelled"), statusMessage: z.string().optional() }),
  z.object({
    status: z.literal("lost"),
    reason: z.enum(["expired", "unknown", "gave-up", "call-outcome-unknown"]),
  }),
]);

const callSchema = z.object({
  arguments: jsonObject,
  meta: jsonObject.optional(),
  /** What to do when nobody can say whether the call ran. */
  onUnknownOutcome: z.enum(["fail", "retry"]),
  /** True while a send may be under way: a restart that finds it cannot know whether the call ran. */
  inFlight: z.boolean(),
});

const recordSchema = z.object({
  v: z.literal(RECORD_VERSION),
  /** The local id: the host's `callId`, or a random one. */
  id: z.string().min(1),
  scope: z.string(),
  /** The host's name of the server. */
  server: z.string(),
  /** The connection's identity. */
  identity: z.string(),
  /** The process that looks after the call, as it is named on the store's roster. Absent where there are no leases. */
  owner: z.string().optional(),
  era: z.literal("2026-07-28"),
  tool: z.string(),
  /** Of tool and arguments: tells a replay of a `callId` from its reuse. Absent for adopted tasks. */
  callDigest: z.string().optional(),
  context: json.optional(),
  /** The tool's, where the host wants its result checked. */
  outputSchema: jsonObject.optional(),
  createdAtMs: atMs,
  updatedAtMs: atMs,
  phase: z.enum(["calling", "asking", "tracking", "settled", "delivered"]),
  /** Only while the call may have to be sent (again). */
  call: callSchema.optional(),
  /** Of the multi round trip; exactly as the server gave it. */
  requestState: z.string().optional(),
  questions: z.array(questionSchema),
  /** What was answered in rounds before there was a task. */
  earlierAnswers: z.array(questionSchema).optional(),
  /** The server's handle, once there is one. A secret. */
  taskId: z.string().optional(),
  /** The newest snapshot, without result, error and inputRequests. */
  snapshot: snapshotSchema.optional(),
  /** Local receipt of the handle: the time to live counts from here. */
  receivedAtMs: atMs.optional(),
  /** Consecutive failed polls, and when the next one may go out (wall clock), so that a restart keeps the backoff. */
  failures: z.number().optional(),
  notBeforeMs: atMs.optional(),
  cancelRequestedAtMs: atMs.optional(),
  cancelAckedAtMs: atMs.optional(),
  /** The acknowledged cancellation is to be asked for once more (the task goes on as if nothing was said), or was. */
  cancelAgain: z.enum(["due", "sent"]).optional(),
  outcome: outcomeSchema.optional(),
  settledAtMs: atMs.optional(),
  deliveredAtMs: atMs.optional(),
});

/** A question that the server put, and what became of it. */
export type Question = z.infer<typeof questionSchema>;
/** How an answer came. */
export type AnswerSource = NonNullable<Question["source"]>;
/** The newest state of a task as the server told it, without payloads. */
export type StoredSnapshot = z.infer<typeof snapshotSchema>;
/** How a call ended. */
export type Outcome = z.infer<typeof outcomeSchema>;
/** What is kept of one call. */
export type TaskRecord = z.infer<typeof recordSchema>;
/** Where a call is on its way. */
export type Phase = TaskRecord["phase"];

/** What reading a stored text gave. */
export type ReadRecord =
  | { readonly ok: true; readonly record: TaskRecord }
  | { readonly ok: false; readonly kind: "corrupt" | "newer-version"; readonly message: string };

/** Upgrades by version: each takes a record of that version to the next. */
const upgrades: Readonly<Record<number, (old: Record<string, unknown>) => Record<string, unknown>>> = {};

/** Reads stored text. Never throws, and its message quotes nothing of the text, which may hold secrets. */
export function readRecord(text: unknown): ReadRecord {
  if (typeof text !== "string") return corrupt("the value is not text");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return corrupt("the text is not JSON");
  }
  if (!isObject(value) || typeof value["v"] !== "number") return corrupt("there is no version field v");
  let version = value["v"];
  if (version > RECORD_VERSION) {
    return {
      ok: false,
      kind: "newer-version",
      message: `record version ${version} is newer than ${RECORD_VERSION}, which this release reads`,
    };
  }
  while (version < RECORD_VERSION) {
    const upgrade = upgrades[version];
    if (upgrade === undefined) return corrupt(`no upgrade from record version ${version}`);
    value = upgrade(value as Record<string, unknown>);
    version += 1;
  }
  const parsed = recordSchema.safeParse(value);
  if (parsed.success) return { ok: true, record: parsed.data };
  const issue = parsed.error.issues[0];
  return corrupt(`field ${issue?.path.join(".") ?? "?"} is not as expected`);
}

/**
 * What this process wants to store, where it owns the stored record under another name: that is no other writer's. A
 * `follower`'s is another's, though it names the owner: it is a copy of what the owner wrote, and may be old.
 */
export function asOwnerOf(
  stored: TaskRecord,
  mine: TaskRecord,
  isOurs: ((stored: TaskRecord) => boolean) | undefined,
  follower?: string,
): TaskRecord {
  if (stored.owner === undefined) return mine;
  if (isOurs?.(stored) !== true) return follower === undefined ? mine : { ...mine, owner: follower };
  return stored.owner === mine.owner ? mine : { ...mine, owner: stored.owner };
}

/** The text that is stored. */
export function writeRecord(record: TaskRecord): string {
  return JSON.stringify(record);
}

function corrupt(message: string): ReadRecord {
  return { ok: false, kind: "corrupt", message };
}
