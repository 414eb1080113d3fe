/**
 * Owns what changes among one client's calls while anybody looks: one watcher, however many streams. It reads what the
 * client told of at once, and the whole store now and then for what other processes did. It writes to no stream itself.
 */
import type { TaskClient } from "../client/taskClient.js";
import { ClientClosedError, StoreError } from "../errors.js";
import type { Clock, StopTimer } from "../internal/clock.js";
import { snapshotOf } from "./snapshot.js";
import { inOrder } from "./taskOrder.js";
import { viewOf, type ViewOptions } from "./views.js";
import type { RemovedEvent, SnapshotEvent, TaskEventData, TaskView } from "./wire.js";

/** A reader of the feed. */
export interface FeedReader {
  /** A call is new or changed, or is no longer among those that are sent: `text` is the event as it goes out. */
  changed(id: string, text: string): void;
  /** What was sent no longer leads to what is there: start afresh. */
  restart(): void;
  /** There will be nothing more. */
  ended(): void;
}

/** The changes of one client's calls. */
export interface Feed {
  /** Joins; the first one starts the watcher. Resolves to what leaves again. Rejects when the store cannot be read. */
  join(reader: FeedReader): Promise<() => void>;
  /** The `snapshot` event of now, in pieces. All readers get the same bytes of the calls, which nobody may change. */
  snapshot(): readonly Uint8Array[];
  /** This call may have changed: it is read, if anybody looks. */
  mark(id: string): void;
}

/** What a feed needs. */
export interface FeedOptions {
  readonly clock: Clock;
  readonly refreshMs: number;
  readonly maxTasks: number;
  readonly views: ViewOptions;
  readonly onError: (error: unknown) => void;
}

/** Reading the store takes at most one part in so many of the time. */
const REST_FACTOR = 19;
/** A reading that takes longer than this, and ten times `refreshMs`, is not waited for any more. */
const GIVE_UP_MS = 30_000;

interface Entry {
  readonly view: TaskView;
  readonly text: string;
  /** What tells a change. */
  readonly print: string;
}

export function createFeed(client: TaskClient, options: FeedOptions): Feed {
  const { clock, refreshMs, maxTasks, views, onError } = options;
  const readers = new Set<FeedReader>();
  const dirty = new Set<string>();
  let entries = new Map<string, Entry>();
  let truncated = false;
  /** The calls as JSON, once somebody wanted them. */
  let encoded: Uint8Array | undefined;
  let first: Promise<void> | undefined;
  let working = false;
  let allDue = false;
  let failing = false;
  let stopTimer: StopTimer | undefined;
  let stopListening: (() => void) | undefined;
  let release: (() => void) | undefined;
  /** Ends the wait for the reading that is under way. */
  let abandon: ((error: Error) => void) | undefined;
  /** Which start of the watcher this is: what an earlier one still reads is nobody's business. */
  let life = 0;

  function start(): void {
    life += 1;
    // Somebody waits for what happens, so the client keeps listening to its servers. Older copies know no hold.
    release = (client as Partial<Pick<TaskClient, "hold">>).hold?.call(client);
    const marks = (["created", "updated", "inputWithdrawn", "settled"] as const).map((name) =>
      client.on(name, ({ id }) => mark(id)),
    );
    marks.push(client.on("input", ({ request }) => mark(request.id)));
    client.closing.addEventListener("abort", end, { once: true });
    stopListening = () => {
      for (const stop of marks) stop();
      client.closing.removeEventListener("abort", end);
    };
    first = readAll(life);
    first.catch(() => undefined);
  }

  function stop(): void {
    life += 1;
    stopListening?.();
    stopListening = undefined;
    release?.();
    release = undefined;
    stopTimer?.();
    stopTimer = undefined;
    first = undefined;
    abandon?.(new ClientClosedError());
    // What an earlier life still waits for holds up no later one.
    working = false;
    entries = new Map();
    encoded = undefined;
    truncated = false;
    dirty.clear();
    allDue = false;
    failing = false;
  }

  function end(): void {
    for (const reader of [...readers]) {
      readers.delete(reader);
      reader.ended();
    }
    stop();
  }

  function mark(id: string): void {
    if (readers.size === 0) return;
    dirty.add(id);
    void work(life);
  }

  /** One reading at a time, so that an older one never comes after a newer one. */
  async function work(mine: number): Promise<void> {
    if (working) return;
    working = true;
    // Where it fails, nobody has joined.
    await first?.catch(() => undefined);
    while (mine === life && (dirty.size > 0 || allDue)) {
      try {
        if (allDue) await readAll(mine);
        else await readMarked(mine);
      } catch (error) {
        // The next reading of the whole store makes up for it.
        if (mine === life) report(error);
      }
    }
    if (mine === life) working = false;
  }

  async function readMarked(mine: number): Promise<void> {
    const ids = [...dirty];
    dirty.clear();
    const handles = await inTime(Promise.all(ids.map((id) => client.task(id))));
    if (mine !== life) return;
    const next = new Map(entries);
    for (const [i, id] of ids.entries()) {
      const handle = handles[i];
      if (handle === undefined) next.delete(id);
      else next.set(id, entryOf(viewOf(handle, views)));
    }
    const isMore = next.size > maxTasks;
    const kept = isMore ? new Map(ordered(next).slice(0, maxTasks)) : next;
    publish(kept, truncated || isMore);
  }

  function ordered(all: ReadonlyMap<string, Entry>): [string, Entry][] {
    return [...all].sort(([, a], [, b]) => inOrder(a.view, b.view));
  }

  async function readAll(mine: number): Promise<void> {
    allDue = false;
    dirty.clear();
    const startedAt = clock.monotonic();
    let restMs = 0;
    try {
      const reading = snapshotOf(client, { clock, maxTasks, views });
      const { tasks, truncated: isMore } = await inTime(reading);
      if (mine !== life) return;
      failing = false;
      restMs = (clock.monotonic() - startedAt) * REST_FACTOR;
      publish(new Map(tasks.map((view) => [view.id, entryOf(view)])), isMore);
    } finally {
      if (mine === life) planNext(restMs);
    }
  }

  /** A store that never answers would hold up everything that comes after. What it answers later is not looked at. */
  async function inTime<Value>(reading: Promise<Value>): Promise<Value> {
    let stopWaiting: StopTimer | undefined;
    const late = new Promise<never>((_, reject) => {
      abandon = reject;
      stopWaiting = clock.setTimer(10 * refreshMs + GIVE_UP_MS, () =>
        reject(new StoreError("The store did not answer in time")),
      );
    });
    try {
      return await Promise.race([reading, late]);
    } finally {
      abandon = undefined;
      stopWaiting?.();
    }
  }

  function planNext(restMs: number): void {
    stopTimer?.();
    stopTimer = clock.setTimer(Math.max(refreshMs, restMs), () => {
      allDue = true;
      void work(life);
    });
  }

  function publish(next: Map<string, Entry>, isMore: boolean): void {
    const before = entries;
    const wasMore = truncated;
    entries = next;
    truncated = isMore;
    const isSame = [...next].every(([id, { text }]) => before.get(id)?.text === text);
    if (!isSame || next.size !== before.size) encoded = undefined;
    if (isMore !== wasMore) {
      // Only a snapshot can say so.
      for (const reader of [...readers]) reader.restart();
      return;
    }
    for (const [id, entry] of next) {
      if (before.get(id)?.print !== entry.print) tellAll(id, taskEvent(entry.view));
    }
    for (const id of before.keys()) if (!next.has(id)) tellAll(id, removedEvent(id));
  }

  function tellAll(id: string, text: string): void {
    for (const reader of [...readers]) reader.changed(id, text);
  }

  function taskEvent(task: TaskView): string {
    const data: TaskEventData = { now: nowText(), task };
    return eventText("task", data);
  }

  function nowText(): string {
    return new Date(clock.now()).toISOString();
  }

  /** A store that stays away is told of once. */
  function report(error: unknown): void {
    if (!failing && !(error instanceof ClientClosedError)) onError(error);
    failing = true;
  }

  return {
    async join(reader) {
      if (client.closing.aborted) throw new ClientClosedError();
      readers.add(reader);
      if (readers.size === 1) start();
      const leave = (): void => {
        if (readers.delete(reader) && readers.size === 0) stop();
      };
      try {
        await first;
      } catch (error) {
        leave();
        throw error;
      }
      if (client.closing.aborted) throw new ClientClosedError();
      return leave;
    },
    snapshot() {
      encoded ??= bytesOf(
        `[${ordered(entries)
          .map(([, { text }]) => text)
          .join(",")}]`,
      );
      const rest: Omit<SnapshotEvent, "tasks"> = { now: nowText(), truncated };
      const head = `event: snapshot\ndata: ${JSON.stringify(rest).slice(0, -1)},"tasks":`;
      return [bytesOf(head), encoded, bytesOf("}\n\n")];
    },
    mark,
  };
}

/**
 * When the policy will answer is told with each reading, and moves with it where another process is in charge: that
 * alone is no news.
 */
function entryOf(view: TaskView): Entry {
  const print = JSON.stringify(view, (name, value: unknown) =>
    name === "answeredByPolicyAt" ? undefined : value,
  );
  return { view, text: JSON.stringify(view), print };
}

function removedEvent(id: string): string {
  const data: RemovedEvent = { id };
  return eventText("removed", data);
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** JSON has no line ends of its own, so one line of data is all. */
function eventText(name: string, data: TaskEventData | RemovedEvent): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
