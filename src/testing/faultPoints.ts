/**
 * Owns `faultPoints`: the moments at which a host may die, as a wrapped fetch, a wrapped store and named places. It
 * changes nothing but the moment that it is told, and knows nothing of what the host does. Node only.
 */
import { subscribe } from "node:diagnostics_channel";
import type { FetchInit, FetchLike } from "../connection/httpOptions.js";
import { isObject } from "../internal/json.js";
import { toKeyValueStore } from "../store/keyValue.js";
import type { KeyValueStore, StoreInput } from "../store/types.js";

/**
 * A moment of a request. `before`: nothing was sent. `sent`: the bytes left, the server may or may not have read them.
 * `executed`: the server ran it, nothing of the answer was read (needs `hasRun`). `headers`: the body was not read.
 * `answered`: the whole answer is in this process (of a stream: its first piece), nothing of it in the library.
 * `later`: the library has had the answer for a moment.
 */
export type RequestMoment = "before" | "sent" | "executed" | "headers" | "answered" | "later";

/** A moment in the life of one process, as plain JSON. Every count starts at 1, in that process. */
export type FaultPoint =
  /** The n-th JSON-RPC request of this method. */
  | { readonly at: "request"; readonly method: string; readonly nth: number; readonly when: RequestMoment }
  /** The n-th write (deletions too) of this kind of entry: "record", or the word in the key ("index", "corrupt", …). */
  | { readonly at: "write"; readonly entry: string; readonly nth: number; readonly when: "before" | "after" }
  /** The n-th time that the host itself said `at(name)`. */
  | { readonly at: "place"; readonly name: string; readonly nth: number };

/** What `faultPoints` takes. */
export interface FaultPointsOptions {
  /** Where `act` runs. Default: nowhere; the points are only written down, in `passed()`. */
  readonly point?: FaultPoint | undefined;
  /**
   * What happens there. Default: SIGKILL to this process, as in a crash: no handler, no flush. Anything else goes on
   * behind the point when it returns (say, after a SIGSTOP), and fails the operation when it throws.
   */
  readonly act?: (() => void) | undefined;
  /**
   * Whether the server has run a request, asked every few milliseconds with this thread blocked, so that its answer
   * may arrive but cannot be read. Needed for `executed` only; `readLog` of the testing server's log file can tell.
   */
  readonly hasRun?: ((request: { readonly id: string; readonly method: string }) => boolean) | undefined;
}

/** The seams of one process. */
export interface FaultPoints {
  /** A fetch for `httpConnection`. `inner` sends; it must be the platform's for `sent` and `executed`. */
  fetch(inner?: FetchLike): FetchLike;
  /** A store for `TaskClient`, over anything that `TaskClientOptions.store` takes. */
  store(inner: StoreInput): KeyValueStore;
  /** A place of the host's own. */
  at(name: string): void;
  /** Every point of this process so far, in order: each is one that the next run can be given. */
  passed(): readonly FaultPoint[];
}

const REQUEST_MOMENTS = ["before", "sent", "executed", "headers", "answered", "later"] as const;
/** So long the library has had an answer at `later`. */
const LATER_MS = 25;
/** Marks the request whose bytes are waited for. */
const MARK = "x-fault-point";
const READS: readonly PropertyKey[] = ["get", "entries", "explainUnreadable"];

/**
 * Fault points for crash tests of a host. First run the host without a `point` and keep what `passed()` answers; then
 * run it anew once per point, see the process end by SIGKILL, start it again, and look at what has come of its calls.
 * A run whose timing differs may never come by its point: then it ends as if there were none.
 */
export function faultPoints(options: FaultPointsOptions = {}): FaultPoints {
  const { point, act = die, hasRun } = options;
  const counts = new Map<string, number>();
  const points: FaultPoint[] = [];

  function count(kind: string): number {
    const nth = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, nth);
    return nth;
  }

  function pass(passed: FaultPoint): void {
    points.push(passed);
    if (same(passed, point)) act();
  }

  function fetchWith(inner: FetchLike): FetchLike {
    return async (url, init) => {
      const { id, method } = requestIn(init);
      const nth = count(`request ${method}`);
      const at = (when: RequestMoment): FaultPoint => ({ at: "request", method, nth, when });
      const fate = REQUEST_MOMENTS.find((when) => same(at(when), point));
      for (const when of REQUEST_MOMENTS.slice(0, 3)) points.push(at(when));
      if (fate === "before") act();
      const stop =
        fate === "sent" || fate === "executed"
          ? onBodySent(() => (whenRun(fate, id, method), act()))
          : () => {};
      const marked = fate === undefined ? init : { ...init, headers: { ...init.headers, [MARK]: "1" } };
      const response = await inner(url, marked).finally(stop);
      pass(at("headers"));
      points.push(at("answered"), at("later"));
      return fate === "answered" || fate === "later" ? held(response, fate) : response;
    };
  }

  function whenRun(fate: RequestMoment, id: string, method: string): void {
    if (fate !== "executed") return;
    if (hasRun === undefined) throw new TypeError('hasRun: needed for a point with when: "executed"');
    while (!hasRun({ id, method })) pauseThread(5);
  }

  /** The same answer, with the moments at which it is there. */
  async function held(response: Awaited<ReturnType<FetchLike>>, fate: RequestMoment): Promise<Response> {
    const { status, body } = response;
    const headers = response instanceof Response ? response.headers : new Headers();
    const act1 = (): void => {
      if (fate === "answered") act();
      else setTimeout(act, LATER_MS);
    };
    const type = response.headers.get("content-type") ?? "";
    if (body !== null && type.startsWith("text/event-stream")) {
      const watched = new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          act1();
          controller.enqueue(piece);
        },
      });
      return new Response(body.pipeThrough(watched), { status, headers });
    }
    const whole = body === null ? null : await new Response(body).arrayBuffer();
    act1();
    // A status without a body takes none, not even an empty one.
    return new Response(whole === null || whole.byteLength === 0 ? null : whole, { status, headers });
  }

  return {
    fetch: (inner = (url, init) => globalThis.fetch(url, init)) => fetchWith(inner),
    store: (inner) =>
      new Proxy(toKeyValueStore(inner), {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          const call = member.bind(target) as (...args: unknown[]) => unknown;
          if (READS.includes(name)) return call;
          // Whatever else a store can do, it changes something.
          return async (...args: unknown[]) => {
            const entry = entryOf(args[0]);
            const nth = count(`write ${entry}`);
            pass({ at: "write", entry, nth, when: "before" });
            const answer = await call(...args);
            pass({ at: "write", entry, nth, when: "after" });
            return answer;
          };
        },
      }),
    at: (name) => pass({ at: "place", name, nth: count(`place ${name}`) }),
    passed: () => points,
  };
}

/** Ends this process at once: nothing after it runs, no handler, no flush. */
function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;) pauseThread(1000);
}

function same(a: FaultPoint, b: FaultPoint | undefined): boolean {
  if (a.at === "place") return b?.at === "place" && a.name === b.name && a.nth === b.nth;
  if (a.at === "write") {
    return b?.at === "write" && a.entry === b.entry && a.nth === b.nth && a.when === b.when;
  }
  return b?.at === "request" && a.method === b.method && a.nth === b.nth && a.when === b.when;
}

function requestIn(init: FetchInit): { id: string; method: string } {
  const body: unknown = JSON.parse(init.body);
  const { id, method } = isObject(body) ? body : {};
  return { id: String(id), method: String(method) };
}

/** Keys are `<scope>:<record>` or `<scope>:!<kind>…`. */
function entryOf(key: unknown): string {
  const [, rest = ""] = /^[^:]*:(.*)$/s.exec(String(key)) ?? [];
  return /^!([a-z]+)/.exec(rest)?.[1] ?? "record";
}

/** Runs `run` after the marked request's bytes were handed to the socket, before anything that it answers can be read. */
function onBodySent(run: () => void): () => void {
  let stopped = false;
  // Not unsubscribed: undici may look at its subscribers once per connection only.
  subscribe("undici:request:bodySent", (message) => {
    const { headers } = (message as { request: { headers: string | readonly string[] } }).request;
    // The next turn: the write itself is through by then.
    if (!stopped && [headers].flat().join(" ").includes(MARK)) setImmediate(run);
  });
  return () => {
    stopped = true;
  };
}

function pauseThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
