/** Owns `tasks/result` of one task: the one that is open while the server asks, and the one that fetches the outcome. */
import { ConnectionError, InvalidResponseError } from "../../errors.js";
import { raceSignal } from "../../internal/abort.js";
import type { Clock } from "../../internal/clock.js";
import type { JsonObject } from "../../internal/json.js";
import { relatedTaskId } from "../../protocol/legacy.js";
import type { ChannelRequestOptions, LegacyChannel } from "./types.js";

/** The `tasks/result` of one task. */
export interface PayloadStream {
  /** What the call would have answered, once the server said it. */
  readonly payload: JsonObject | undefined;
  readonly isOpen: boolean;
  /** Opens it without a time limit. Answers false where it is open already, or was opened since the last poll. */
  open(): boolean;
  /** A poll begins: it may be opened (once) again. */
  pollStarted(): void;
  /**
   * The server says that it waits for input, but asks nothing: some transports do not tell that a stream broke off.
   * Leaves an open one that was silent for long (10 s, twice as long each time, at most 5 min).
   */
  leaveSilent(): void;
  /** The server asked something: the stream works. */
  heard(): void;
  /** The outcome of a task that is over; rejects as the request does. All who wait share one request. */
  fetch(options: ChannelRequestOptions): Promise<JsonObject>;
  sessionEnded(): void;
  stop(): void;
}

const SILENT_MS = 10_000;
const MAX_SILENT_MS = 300_000;

/** `onEnd` runs when the open one ends by itself: with the payload there, or without. */
export function createPayloadStream(
  channel: LegacyChannel,
  taskId: string,
  context: { clock: Clock; onEnd: () => void },
): PayloadStream {
  const { clock } = context;
  let payload: JsonObject | undefined;
  let current: AbortController | undefined;
  let opened = false;
  let stopped = false;
  let fetching: Promise<JsonObject> | undefined;
  let heardAt = clock.monotonic();
  let silentMs = SILENT_MS;

  async function run(mine: AbortController): Promise<void> {
    try {
      const raw = await channel.request(
        "tasks/result",
        { taskId },
        { signal: mine.signal, timeoutMs: Infinity },
      );
      // A server that does not wait until the task is over answers something else: that is no outcome.
      if (isToolResult(raw)) payload ??= ours(raw);
    } catch {
      // Refused or dropped: the next poll tells whether it is needed again.
    }
    if (current !== mine) return;
    current = undefined;
    context.onEnd();
  }

  async function load(options: ChannelRequestOptions): Promise<JsonObject> {
    payload = ours(await channel.request("tasks/result", { taskId }, options));
    // The open one has nothing more to tell.
    leave();
    return payload;
  }

  function ours(raw: JsonObject): JsonObject {
    const marked = relatedTaskId(raw);
    if (marked === undefined || marked === taskId) return raw;
    throw new InvalidResponseError("tasks/result: the answer bears the mark of another task");
  }

  function leave(): void {
    const mine = current;
    current = undefined;
    mine?.abort(new ConnectionError("tasks/result is not needed any more", { mayHaveRun: true }));
  }

  return {
    get payload() {
      return payload;
    },
    get isOpen() {
      return current !== undefined;
    },
    open() {
      if (stopped || opened || current !== undefined) return false;
      opened = true;
      heardAt = clock.monotonic();
      current = new AbortController();
      void run(current);
      return true;
    },
    pollStarted: () => void (opened = false),
    leaveSilent() {
      if (current === undefined || clock.monotonic() - heardAt < silentMs) return;
      silentMs = Math.min(silentMs * 2, MAX_SILENT_MS);
      leave();
    },
    heard() {
      heardAt = clock.monotonic();
      silentMs = SILENT_MS;
    },
    fetch({ signal, ...rest }) {
      if (payload !== undefined) return Promise.resolve(payload);
      // Not tied to the signal: another poll, or a notice, may wait for the same.
      fetching ??= load(rest).finally(() => (fetching = undefined));
      return raceSignal(fetching, signal);
    },
    sessionEnded() {
      opened = false;
      leave();
    },
    stop() {
      stopped = true;
      leave();
    },
  };
}

/** What `tools/call` answers: no state, and no acknowledgement. */
export function isToolResult(payload: JsonObject): boolean {
  return Array.isArray(payload["content"]) || payload["structuredContent"] !== undefined;
}
