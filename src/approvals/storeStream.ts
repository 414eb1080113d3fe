/** Owns keeping one stream of events open: reading it, noticing that it is dead, opening it again. It knows no tasks. */
import { readEvents } from "../connection/sse.js";
import { linkSignals } from "../internal/abort.js";
import { sleep, type Clock } from "../internal/clock.js";
import { bodyOf, refusalError, type HostRequests } from "./hostRequests.js";
import { TasksStoreError } from "./tasksStoreError.js";

/** How the stream stands: the words of `StoreConnection` that a stream can be in. */
export type StreamStatus = "connecting" | "live" | "reconnecting" | "refused";

/** What a stream needs, and whom it tells. */
export interface StoreStreamOptions {
  readonly requests: HostRequests;
  readonly clock: Clock;
  readonly random: () => number;
  /** True when the event was understood; the stream is live once a snapshot was. */
  readonly onEvent: (name: string, data: unknown) => boolean;
  readonly onStatus: (status: StreamStatus, problem: string | undefined) => void;
}

/** A stream that is kept open. */
export interface StoreStream {
  /** Opens at once what is closed, and anew what is open. */
  refresh(): void;
  stop(): void;
}

const FIRST_DELAY_MS = 500;
/** Somebody looks at the page: a host that is back is not to be noticed half a minute later. */
const MAX_DELAY_MS = 10_000;
/** Nothing changes by itself for somebody who is signed out. */
const REFUSED_DELAY_MS = 60_000;
/** A stream without a byte for so long is dead: the host sends comments more often. */
const IDLE_MS = 45_000;
/** A stream that lived so long makes up for earlier failures. */
const GOOD_LIFE_MS = 5000;
/** All pages of a host lose their streams at once; they do not all come back in the same millisecond. */
const RENEWAL_SPREAD_MS = 250;
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

/** How an attempt ended. */
interface Ended {
  readonly error: unknown;
  /** How long it was live. */
  readonly livedMs: number;
}

export function openStoreStream(options: StoreStreamOptions): StoreStream {
  const { requests, clock, random, onEvent, onStatus } = options;
  const stopping = new AbortController();
  /** Ends the delay that is waited for. */
  let wake: (() => void) | undefined;
  /** Ends the attempt that is under way, for a new one. */
  let renew: (() => void) | undefined;
  let heardAt = { monotonic: 0, now: 0 };

  async function run(): Promise<void> {
    let failures = 0;
    onStatus("connecting", undefined);
    while (!stopping.signal.aborted) {
      const { error, livedMs } = await attempt();
      if (stopping.signal.aborted) return;
      if (error === RENEWED) continue;
      if (livedMs >= GOOD_LIFE_MS) failures = 0;
      // The host ends streams now and then, to ask anew who is there.
      if (error === undefined && livedMs >= GOOD_LIFE_MS) {
        await delay(random() * RENEWAL_SPREAD_MS);
        continue;
      }
      failures += 1;
      const isRefused = error instanceof TasksStoreError && error.refusal === "forbidden";
      onStatus(isRefused ? "refused" : "reconnecting", problemOf(error));
      await delay(isRefused ? REFUSED_DELAY_MS : delayMs(failures, random()));
    }
  }

  async function attempt(): Promise<Ended> {
    const link = linkSignals(stopping.signal);
    renew = () => link.abort(RENEWED);
    let liveAt: number | undefined;
    const ended = (error: unknown): Ended => ({
      error,
      livedMs: liveAt === undefined ? 0 : clock.monotonic() - liveAt,
    });
    const stopWatching = watch(() => link.abort(new TasksStoreError("The stream was silent for too long")));
    try {
      const response = await requests.open("events", {
        headers: { accept: "text/event-stream" },
        cache: "no-store",
        signal: link.signal,
      });
      const body = await streamOf(response, link.signal);
      const events = readEvents(body, {
        maxEventBytes: MAX_EVENT_CHARS,
        signal: link.signal,
        onBytes: heard,
      });
      for await (const { event = "message", data } of events) {
        if (!onEvent(event, parsed(data)) || event !== "snapshot" || liveAt !== undefined) continue;
        liveAt = clock.monotonic();
        onStatus("live", undefined);
      }
      return ended(
        liveAt === undefined ? new TasksStoreError("The stream ended before it began") : undefined,
      );
    } catch (error) {
      return ended(link.signal.aborted ? link.signal.reason : error);
    } finally {
      stopWatching();
      renew = undefined;
      link.release();
    }
  }

  function heard(): void {
    heardAt = { monotonic: clock.monotonic(), now: clock.now() };
  }

  /** By both clocks: the one that never jumps may have stood still while the machine slept. */
  function silentMs(): number {
    return Math.max(clock.monotonic() - heardAt.monotonic, clock.now() - heardAt.now);
  }

  function watch(onSilent: () => void): () => void {
    heard();
    let stop = (): void => undefined;
    const arm = (): void => {
      stop = clock.setTimer(IDLE_MS - (clock.monotonic() - heardAt.monotonic), () => {
        if (clock.monotonic() - heardAt.monotonic >= IDLE_MS) onSilent();
        else arm();
      });
    };
    arm();
    return () => stop();
  }

  async function delay(ms: number): Promise<void> {
    const link = linkSignals(stopping.signal);
    wake = () => link.abort(undefined);
    try {
      await sleep(clock, ms, { signal: link.signal });
    } catch {
      // Woken, or stopped: the loop looks.
    } finally {
      wake = undefined;
      link.release();
    }
  }

  /** Timers of a hidden page are late, and a network that is back does not say so by itself. */
  function onAwake(): void {
    if (wake !== undefined) wake();
    else if (silentMs() >= IDLE_MS) renew?.();
  }

  const ignore = listenForWaking(onAwake);
  void run().finally(ignore);
  return {
    refresh() {
      if (wake !== undefined) wake();
      else renew?.();
    },
    stop() {
      stopping.abort();
      ignore();
    },
  };
}

const RENEWED = new DOMException("The stream is opened anew", "AbortError");

async function streamOf(response: Response, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const type = response.headers.get("content-type") ?? "";
  const { body } = response;
  if (response.ok && body !== null && /^text\/event-stream\b/i.test(type)) return body;
  throw refusalError(response, await bodyOf(response, signal));
}

/** Growing, bounded, and never the same for all pages: half of it is chance. */
function delayMs(failures: number, chance: number): number {
  const grownMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20), MAX_DELAY_MS);
  return grownMs * (0.5 + chance / 2);
}

function problemOf(error: unknown): string {
  if (error === undefined) return "The host ended the stream";
  return error instanceof TasksStoreError ? error.message : "The stream broke off";
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** Calls back when the page is shown, or its network is back; where there is a page. */
function listenForWaking(onAwake: () => void): () => void {
  const page = typeof document === "undefined" ? undefined : document;
  const shell = typeof window === "undefined" ? undefined : window;
  const onVisible = (): void => {
    if (page?.visibilityState === "visible") onAwake();
  };
  page?.addEventListener("visibilitychange", onVisible);
  shell?.addEventListener("online", onAwake);
  return () => {
    page?.removeEventListener("visibilitychange", onVisible);
    shell?.removeEventListener("online", onAwake);
  };
}
