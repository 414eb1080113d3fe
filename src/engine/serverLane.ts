/** Owns the way to one server: how many requests at once, in which order, and whether it may be asked at all. */
import type { Connection, RequestOptions } from "../connection/types.js";
import { ClientClosedError, ConnectionError, RpcError } from "../errors.js";
import type { StopTimer } from "../internal/clock.js";
import type { JsonObject } from "../internal/json.js";
import { createLimiter } from "../internal/limiter.js";
import { readServerName } from "../protocol/index.js";
import { backoffMs } from "../task/policy.js";
import { isOutage, retryClass } from "./retryTable.js";
import type { EngineOptions, Tell } from "./types.js";

/** One request through a lane. */
export interface LaneRequest extends Omit<RequestOptions, "clientInfo" | "capabilities"> {
  readonly method: string;
  readonly params: JsonObject;
  /** A host's own call goes out at once, also to a server that was down a moment ago. */
  readonly direct?: boolean;
  /** Runs when the request is about to leave; what it throws keeps it from leaving. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

/** The lane of one server. */
export interface ServerLane {
  readonly name: string;
  readonly connection: Connection;
  readonly up: boolean;
  readonly inFlight: number;
  readonly queued: number;
  /** True when a call would have to wait for its turn. */
  readonly callsWait: boolean;
  /** False while the server is down or wants to be left alone. */
  readonly mayListen: boolean;
  /** Sends, when the server may be asked and there is room. Rejects as `Connection.request`, or with the signal's reason. */
  request(request: LaneRequest): Promise<JsonObject>;
  /** The name that the server gives itself, for people; the host's name of it where that is not known. Never rejects. */
  displayName(): Promise<string>;
  /** The server wants to be left alone for so long: no request leaves before, but a host's own call. */
  leaveAlone(restMs: number): void;
  stop(): void;
}

/** How many failures in a row, on answers that might be one task's own fault, make an outage. */
const FAILURES_UNTIL_DOWN = 2;

interface Down {
  readonly reason: "unreachable" | "auth";
  attempts: number;
  /** Who waits for the server, first come first probed. */
  readonly waiting: ((isProbe: boolean) => void)[];
  probing: boolean;
  /** Its time came while nobody waited: whoever comes next is the probe. */
  isDue: boolean;
  /** When the next probe is due, on the monotonic clock. */
  probeAt: number;
  stopTimer: StopTimer;
}

interface Admission {
  readonly release: () => void;
  /** The outage that the request is to find out about: another one's end is not its own. */
  readonly probed: Down | undefined;
}

const DISCOVER_TIMEOUT_MS = 2000;

export function createServerLane(
  name: string,
  connection: Connection,
  options: Pick<EngineOptions, "clock" | "random" | "retry" | "concurrency" | "clientInfo" | "capabilities">,
  hooks: { tell: Tell; count: (method: string) => void },
): ServerLane {
  const short = createLimiter(options.concurrency);
  const calls = createLimiter(options.concurrency);
  const stopping = new AbortController();
  let down: Down | undefined;
  let failuresInRow = 0;
  let notBefore = -Infinity;
  let announced: Down["reason"] | undefined;
  /** What the server calls itself, once it was asked or has said it. */
  let described: { readonly name: string | undefined } | undefined;
  let describing: Promise<void> | undefined;
  let describeAgainAt = -Infinity;

  async function admit(request: LaneRequest, signal: AbortSignal | undefined): Promise<Admission> {
    const limiter = request.method === "tools/call" ? calls : short;
    // Whether the server may be asked is looked at again after every wait: it may have changed meanwhile.
    for (;;) {
      const probed = request.direct === true ? undefined : await untilAllowed(signal);
      try {
        const release = await limiter.acquire(signal);
        if (probed === down || request.direct === true) return { release, probed };
        release();
      } catch (error) {
        probeLeft(probed);
        throw error;
      }
    }
  }

  /** Answers the outage to the one request that is to find out whether the server is back. */
  function untilAllowed(signal: AbortSignal | undefined): Promise<Down | undefined> {
    const waitMs = notBefore - options.clock.monotonic();
    if (down === undefined && waitMs <= 0) return Promise.resolve(undefined);
    const state = down ?? goDown("unreachable", waitMs);
    if (state.isDue && signal?.aborted !== true) {
      state.isDue = false;
      state.probing = true;
      return Promise.resolve(state);
    }
    return new Promise((resolve, reject) => {
      const enter = (isProbe: boolean): void => {
        signal?.removeEventListener("abort", leave);
        resolve(isProbe ? state : undefined);
      };
      const leave = (): void => {
        const at = state.waiting.indexOf(enter);
        if (at >= 0) state.waiting.splice(at, 1);
        reject(signal?.reason as Error);
      };
      if (signal?.aborted === true) return reject(signal.reason as Error);
      state.waiting.push(enter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  function goDown(reason: Down["reason"], delayMs: number): Down {
    down = {
      reason,
      attempts: 1,
      waiting: [],
      probing: false,
      isDue: false,
      probeAt: 0,
      stopTimer: () => undefined,
    };
    armProbe(down, delayMs);
    return down;
  }

  function announceDown(reason: Down["reason"], error: unknown): void {
    if (announced === reason) return;
    announced = reason;
    hooks.tell("serverDown", { server: name, reason, error });
  }

  function armProbe(state: Down, ownMs: number): void {
    state.stopTimer();
    state.isDue = false;
    // Whatever this outage allows, also the end of an earlier one's probe: not before the server wants to be asked.
    const delayMs = Math.max(ownMs, notBefore - options.clock.monotonic());
    state.probeAt = options.clock.monotonic() + delayMs;
    state.stopTimer = options.clock.setTimer(delayMs, () => probe(state));
  }

  function probe(state: Down): void {
    if (state !== down || state.probing) return;
    const next = state.waiting.shift();
    if (next === undefined) {
      // Nobody needs the server now. Whoever does next finds out, alone; a mere rest that was asked for is over.
      if (announced === undefined) down = undefined;
      else state.isDue = true;
      return;
    }
    state.probing = true;
    next(true);
  }

  function succeeded(isProbe: boolean): void {
    failuresInRow = 0;
    const state = down;
    // Asked to stay away until then: that one request was answered all the same does not take it back.
    const restMs = notBefore - options.clock.monotonic();
    if (state !== undefined && restMs > 0) {
      if (isProbe) state.probing = false;
      if (!state.probing) armProbe(state, restMs);
      return;
    }
    if (announced !== undefined) hooks.tell("serverUp", { server: name });
    announced = undefined;
    if (state === undefined) return;
    down = undefined;
    state.stopTimer();
    for (const enter of state.waiting.splice(0)) enter(false);
  }

  function failed(error: unknown, method: string, isProbe: boolean): void {
    if (!isOutage(error)) return answered(error, isProbe);
    const { status, retryAfterMs } = error as { status?: number; retryAfterMs?: number };
    failuresInRow += 1;
    const reason = retryClass(error, method) === "auth" ? "auth" : "unreachable";
    const askedMs = retryAfterMs ?? 0;
    if (askedMs > 0) obey(askedMs);
    if (down !== undefined && !isProbe) return stayAway(down);
    const attempts = (down?.attempts ?? 0) + 1;
    const ownMs =
      reason === "auth" ? options.retry.authRetryMs : backoffMs(attempts, options.retry, options.random());
    const delayMs = Math.max(ownMs, askedMs);
    const certain = status === undefined || askedMs > 0 || reason === "auth";
    if (down !== undefined) {
      down.attempts = attempts;
      down.probing = false;
      armProbe(down, delayMs);
    } else if (certain || failuresInRow >= FAILURES_UNTIL_DOWN) {
      goDown(reason, delayMs);
    }
    if (down !== undefined) announceDown(reason, error);
  }

  function obey(restMs: number): void {
    notBefore = Math.max(notBefore, options.clock.monotonic() + restMs);
  }

  /** What was under way when the server went down tells nothing new, except how long to stay away. */
  function stayAway(state: Down): void {
    if (!state.probing && notBefore > state.probeAt) armProbe(state, notBefore - options.clock.monotonic());
  }

  /** A JSON-RPC error, however sad, shows that the server is there; an unreadable body shows nothing. */
  function answered(error: unknown, isProbe: boolean): void {
    if (!(error instanceof ConnectionError)) {
      if (error instanceof RpcError && error.retryAfterMs !== undefined) obey(error.retryAfterMs);
      return succeeded(isProbe);
    }
    if (down === undefined || !isProbe) return;
    down.attempts += 1;
    down.probing = false;
    armProbe(down, backoffMs(down.attempts, options.retry, options.random()));
  }

  /** The probe ended without telling anything (its caller aborted it): the next one tries. */
  function probeLeft(probed: Down | undefined): void {
    if (probed === undefined || probed !== down || !probed.probing) return;
    probed.probing = false;
    armProbe(probed, 0);
  }

  /** The server may have come back meanwhile, and have gone again. */
  function isProbeNow(probed: Down | undefined): boolean {
    return probed !== undefined && probed === down;
  }

  async function send(request: LaneRequest, probed: Down | undefined): Promise<JsonObject> {
    const { method, params, direct: _direct, beforeSend: _beforeSend, ...rest } = request;
    hooks.count(method);
    try {
      const result = await connection.request(method, params, {
        ...rest,
        clientInfo: options.clientInfo,
        capabilities: options.capabilities,
      });
      const said = readServerName(result["_meta"]);
      if (said !== undefined) described = { name: said };
      succeeded(isProbeNow(probed));
      return result;
    } catch (error) {
      if (request.signal?.aborted !== true) failed(error, method, isProbeNow(probed));
      else probeLeft(probed);
      throw error;
    }
  }

  /** One request for all who want to know, and none to a server that is in trouble. */
  async function findDisplayName(): Promise<void> {
    if (describing === undefined && (down !== undefined || options.clock.monotonic() < describeAgainAt))
      return;
    describing ??= describe().finally(() => (describing = undefined));
    await describing;
  }

  async function describe(): Promise<void> {
    try {
      // Only the name for people is missing without it, so it is not waited for long.
      const said = await connection.discover({
        clientInfo: options.clientInfo,
        capabilities: options.capabilities,
        signal: stopping.signal,
        timeoutMs: DISCOVER_TIMEOUT_MS,
      });
      described = { name: said.title ?? said.name };
    } catch (error) {
      // Every request that matters reports its own failure; but who asks for patience is heard.
      describeAgainAt = options.clock.monotonic() + options.retry.maxDelayMs;
      if (error instanceof ConnectionError && error.retryAfterMs !== undefined) {
        obey(error.retryAfterMs);
        if (down !== undefined) stayAway(down);
      }
    }
  }

  return {
    name,
    connection,
    get up() {
      return down === undefined && announced === undefined;
    },
    get inFlight() {
      return short.active + calls.active;
    },
    get queued() {
      return short.queued + calls.queued + (down?.waiting.length ?? 0);
    },
    get callsWait() {
      return calls.active >= options.concurrency;
    },
    get mayListen() {
      // Announced as down: only an answer says otherwise, also while nobody happens to wait for one.
      return down === undefined && announced === undefined && notBefore <= options.clock.monotonic();
    },
    leaveAlone(restMs) {
      obey(restMs);
      if (down !== undefined) stayAway(down);
    },
    async displayName() {
      if (described === undefined) await findDisplayName();
      return described?.name ?? name;
    },
    async request(request) {
      const { release, probed } = await admit(request, request.signal);
      try {
        await request.beforeSend?.();
      } catch (error) {
        release();
        probeLeft(probed);
        throw error;
      }
      return send(request, probed).finally(release);
    },
    stop() {
      stopping.abort(new ClientClosedError());
      down?.stopTimer();
    },
  };
}
