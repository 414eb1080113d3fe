/** Owns the planted bugs: each breaks one promise by a small change of the product, as a tired person might make it. */
import type { Edit } from "./bundle.js";

export interface Mutant {
  readonly name: string;
  /** The number of the promise that it breaks. */
  readonly promise: number;
  readonly edits: readonly Edit[];
}

const edit = (file: string, find: string, replace: string): Edit => ({ file: `src/${file}`, find, replace });
const one = (name: string, promise: number, ...[file, find, replace]: [string, string, string]): Mutant => ({
  name,
  promise,
  edits: [edit(file, find, replace)],
});

export const MUTANTS: readonly Mutant[] = [
  one(
    "tell the handle before it is stored",
    1,
    "engine/callFlow.ts",
    'const kept = await keeper.apply({ type: "handleReceived", snapshot, digests: inputs.digests });\n    waits.resolve({ storeError: kept.storeError, error: undefined });',
    'waits.resolve({ storeError: undefined, error: undefined });\n    await keeper.apply({ type: "handleReceived", snapshot, digests: inputs.digests });',
  ),
  one(
    "forget that the store refused the handle",
    1,
    "engine/callFlow.ts",
    "waits.resolve({ storeError: kept.storeError, error: undefined });",
    "waits.resolve({ storeError: undefined, error: undefined });",
  ),
  one(
    "drop the handle that comes late",
    1,
    "engine/callFlow.ts",
    "async function takeHandle(seed: TaskSnapshot): Promise<void> {",
    "async function takeHandle(seed: TaskSnapshot): Promise<void> {\n    if (waits.left) return void (await keeper.drop());",
  ),
  one(
    "send before the intent is journaled",
    2,
    "engine/callRecords.ts",
    "inFlight: !context.lane.callsWait,",
    "inFlight: false,",
  ),
  one(
    "send calls of unknown fate again",
    2,
    "engine/callStep.ts",
    "return hints?.idempotentHint === true || hints?.readOnlyHint === true;",
    "return hints?.idempotentHint !== false || hints?.readOnlyHint === true;",
  ),
  one(
    "take a lost connection for a call that did not run",
    2,
    "connection/failures.ts",
    "{ mayHaveRun: !notSent, cause: error },",
    "{ mayHaveRun: false, cause: error },",
  ),
  one(
    "send a journaled call again after a restart",
    2,
    "engine/callFlow.ts",
    "if (!orphaned || rounds > 0) return true;",
    "if (orphaned || rounds >= 0) return true;",
  ),
  one(
    "ignore the call id",
    3,
    "engine/poller.ts",
    "const before = wanted.callId === undefined ? undefined : await existing(id, wanted, digest);",
    "const before = wanted.callId !== undefined ? undefined : await existing(id, wanted, digest);",
  ),
  one(
    "take other arguments for the same call",
    3,
    "engine/callRecords.ts",
    'if (record.callDigest !== digest) throw new CallIdConflictError("other arguments");',
    "",
  ),
  one(
    "believe in the first unknown task",
    4,
    "engine/pollStep.ts",
    "if (goneInRow > 1) await",
    "if (goneInRow > 0) await",
  ),
  one(
    "take a failing network for a failed task",
    4,
    "engine/pollStep.ts",
    "if (isLostBeyondReach()) {",
    "if ((keeper.record.failures ?? 0) > 3) {",
  ),
  one(
    "take a missing result for an empty one",
    4,
    "task/outcome.ts",
    'return snapshot.result === undefined ? undefined : { status: "completed", result: snapshot.result };',
    'return { status: "completed", result: snapshot.result ?? {} };',
  ),
  one(
    "poll at half the interval",
    5,
    "task/policy.ts",
    "return Math.ceil(delayMs * (1 + jitter * random));",
    "return Math.ceil(delayMs * (0.6 + jitter * random));",
  ),
  one(
    "poll at once when a stream opens",
    5,
    "engine/pollStep.ts",
    "unprovenPolls = 0;\n      pullIn(pace.remainingMs());",
    "unprovenPolls = 0;\n      pullIn(0);",
  ),
  one(
    "ignore Retry-After",
    5,
    "engine/serverLane.ts",
    "notBefore = Math.max(notBefore, options.clock.monotonic() + restMs);",
    "",
  ),
  one(
    "begin the backoff anew at every failure",
    5,
    "engine/pollStep.ts",
    "const attempt = (keeper.record.failures ?? 0) + 1;",
    "const attempt = 1;",
  ),
  one(
    "poll while the server is down",
    5,
    "engine/serverLane.ts",
    "if (down === undefined && waitMs <= 0) return Promise.resolve(undefined);",
    "if (waitMs <= 0) return Promise.resolve(undefined);",
  ),
  one(
    "several requests about a task at a time",
    5,
    "engine/followUps.ts",
    "const turn = createLimiter(1);",
    "const turn = createLimiter(3);",
  ),
  one(
    "trust stale snapshots",
    6,
    "task/storedSnapshot.ts",
    "return Date.parse(after.lastUpdatedAt) < Date.parse(before.lastUpdatedAt);",
    "return false;",
  ),
  one(
    "replace the first outcome",
    6,
    "task/merge.ts",
    "if (isOver(stored) && !givesWay(stored, mine)) return mergeOver(stored, mine);",
    "if (isOver(stored) && !isOver(mine)) return mergeOver(stored, mine);",
  ),
  one(
    "show the end before it is stored",
    6,
    "engine/recordKeeper.ts",
    'const waits = isOver(next) && !handleUnsaved && mode === "keep";',
    "const waits = false;",
  ),
  one(
    "ask again at every poll",
    7,
    "engine/inputBroker.ts",
    "if (!shown.has(question.key)) show(record, question);",
    "show(record, question);",
  ),
  {
    name: "let a later answer replace the first",
    promise: 7,
    edits: [
      edit(
        "task/transition.ts",
        'const free = question.state === "open" || question.state === "refused";',
        'const free = question.state !== "closed";',
      ),
      edit(
        "engine/answering.ts",
        'if (question.state !== "open" && question.state !== "refused") {',
        'if (question.state === "closed") {',
      ),
    ],
  },
  one(
    "send an answer before it is stored",
    7,
    "engine/driverInputs.ts",
    'response: checked, by, source },\n      "must",',
    'response: checked, by, source },\n      "keep",',
  ),
  one(
    "do not send again what was acknowledged and not taken",
    7,
    "task/questions.ts",
    'if ((question.resent ?? 0) === 0) return { ...question, state: "answered", resent: 1 };',
    "",
  ),
  one(
    "take an answer for acknowledged once it is sent",
    7,
    "engine/followUps.ts",
    'const raw = await request("tasks/update",',
    'await keeper.apply({ type: "updateAcked", keys });\n      const raw = await request("tasks/update",',
  ),
  one(
    "show one question at a time",
    8,
    "engine/inputBroker.ts",
    "for (const question of open.values()) if (!shown.has(question.key)) show(record, question);",
    "for (const question of open.values()) if (shown.size === 0) show(record, question);",
  ),
  one(
    "decline what nobody answers",
    9,
    "engine/inputBroker.ts",
    "if (response === undefined || entry.controller.signal.aborted) return;",
    'if (entry.controller.signal.aborted) return;\n      if (response === undefined) return void (await options.respond(question.key, { action: "decline" }, { digest: entry.digest, signal: request.signal }));',
  ),
  one(
    "accept what nobody answers",
    9,
    "engine/answerWindow.ts",
    'window.response ?? { action: "cancel" }',
    'window.response ?? { action: "accept" }',
  ),
  one(
    "answer for people before their time is up",
    9,
    "engine/answerWindow.ts",
    "return Math.max(afterMs - passedMs, Math.min(afterMs, MIN_SHOWN_MS));",
    "return 0;",
  ),
  one(
    "trust the wall clock with people's time",
    11,
    "engine/answerWindow.ts",
    "return Math.max(afterMs - passedMs, Math.min(afterMs, MIN_SHOWN_MS));",
    "return afterMs - passedMs;",
  ),
  {
    name: "count an outcome as delivered though its handler failed",
    promise: 10,
    edits: [
      edit("engine/delivery.ts", "return !signal.aborted;", "return false;"),
      edit("engine/delivery.ts", "if (taken) return true;", "return true;"),
    ],
  },
  one(
    "write the delivery down before it",
    10,
    "engine/taskDriver.ts",
    'if (record.phase === "settled") tell("settled", toldOf(record));',
    'if (record.phase === "settled") tell("settled", toldOf(record));\n    if (record.phase === "settled" && !resting) await keeper.apply({ type: "delivered" }).catch(() => undefined);',
  ),
  one(
    "take every hint at its word",
    11,
    "protocol/task.ts",
    'if (typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER) return Math.ceil(value);',
    'if (typeof value === "number") return Math.ceil(value);',
  ),
  one(
    "do not bound the interval",
    11,
    "task/policy.ts",
    "return Math.min(Math.max(Math.ceil(hint), policy.minIntervalMs), policy.maxIntervalMs);",
    "return hint / 100;",
  ),
  one(
    "trust the wall clock with the time to live",
    11,
    "engine/pollStep.ts",
    "elapsedMs: () => Math.min(pace.elapsedMs, pace.watchedMs),",
    "elapsedMs: () => clock.now() - (keeper.record.receivedAtMs ?? clock.now()),",
  ),
  one(
    "forget that the time to live has changed",
    11,
    "task/storedSnapshot.ts",
    "const ttlMs = seen.ttlMs === undefined ? (before?.ttlMs ?? null) : seen.ttlMs;",
    "const ttlMs = before?.ttlMs === undefined || before.ttlMs === null ? (seen.ttlMs ?? null) : before.ttlMs;",
  ),
  one(
    "trust push alone",
    11,
    "engine/pollStep.ts",
    'if (isPushed && !isWatchful() && !isOvertaken) schedule(safetyMs(), "safety");',
    'if (isPushed && !isWatchful() && !isOvertaken) schedule(1e12, "safety");',
  ),
  one(
    "name the task in errors",
    12,
    "connection/rpc.ts",
    "const secrets = [...secretsOf(request.params), ...credentials];",
    "const secrets = [...credentials];",
  ),
  one(
    "keep the arguments of a call that is a task",
    12,
    "task/transition.ts",
    "const { call: _call, requestState: _state, ...rest } = record;\n  const tracked",
    "const { requestState: _state, ...rest } = record;\n  const tracked",
  ),
  {
    name: "poll over whatever connection bears the name",
    promise: 12,
    edits: [
      edit(
        "engine/takeOver.ts",
        "return server.lane.connection.identity === record.identity;",
        "return server.lane.name === record.server;",
      ),
    ],
  },
  {
    name: "ignore the scope",
    promise: 12,
    edits: [
      edit(
        "store/recordKeys.ts",
        "const prefix = `${await keyPart(scope)}:`;",
        'const prefix = "all:";\n  void scope;',
      ),
      edit("store/taskStore.ts", "if (read.ok && read.record.scope === scope) {", "if (read.ok) {"),
      edit(
        "store/taskStore.ts",
        "if (record.scope === scope && (id === undefined || record.id === id))",
        "if (id === undefined || record.id === id)",
      ),
      edit(
        "store/taskStore.ts",
        'if (record.scope !== scope) throw new TypeError("record.scope must be the scope of the store");',
        "",
      ),
    ],
  },
];

/** Planted where there are leases. */
export const LEASE_MUTANTS: readonly Mutant[] = [
  one(
    "look after what others look after",
    7,
    "engine/leases.ts",
    "return owner === undefined || owner === me || earlier.has(owner);",
    'return owner === undefined || owner === me || earlier.has(owner) || me !== "";',
  ),
  one(
    "never renew the lease",
    7,
    "engine/leases.ts",
    "scheduler.schedule(key, beatMs, () => void turn().catch(reportOnce).then(plan));",
    "scheduler.schedule(key, 100 * leaseMs, () => void turn().catch(reportOnce).then(plan));",
  ),
  one(
    "never take over from the dead",
    10,
    "engine/living.ts",
    "return at - since >= Math.min(entry.leaseMs, MAX_LEASE_MS);",
    "return at - since >= MAX_LEASE_MS;",
  ),
];
