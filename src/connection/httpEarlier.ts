/**
 * Owns that a server of an earlier revision is spoken to all the same: over the same URL, by the official SDK's client
 * of that time. It decides nothing about requests that a server of our revision has answered.
 */
import { ClientClosedError, ConnectionError, EraNotSupportedError } from "../errors.js";
import { linkSignals, raceSignal } from "../internal/abort.js";
import { openSession, type HttpSession, type Who } from "./httpSession.js";
import type { HttpSettings } from "./httpOptions.js";
import { eraError } from "./rpc.js";
import type { Connection, ListenOptions, RequestOptions } from "./types.js";

/** How long a server that wants no `initialize` either is not asked for it again; and one in doubt for our revision. */
const ASK_AGAIN_MS = 30_000;
/** How long the answer is waited for by which a server shows that it speaks our revision after all. */
const DISCOVER_MS = 10_000;

type Waiting = Who & Pick<RequestOptions, "signal" | "timeoutMs">;

/**
 * The connection, and the other one beneath it once the server has turned our revision away: a request that was refused
 * so has not run, and goes out again there. Where that way leads nowhere either, the `EraNotSupportedError` stands.
 *
 * With `earlier: "only"` nothing goes out in ours. Else a server that speaks both is spoken to in ours, though a proxy in front of it turned a request away; and one that was
 * upgraded while its session lived is asked again.
 */
export function withEarlierRevisions(modern: Connection, settings: HttpSettings): Connection {
  const { clock } = settings;
  const only = settings.earlier === "only";
  let opening: Promise<HttpSession | undefined> | undefined;
  let opened: HttpSession | undefined;
  let reconsidering: Promise<void> | undefined;
  let askAgainAt = -Infinity;
  let reconsiderAt = -Infinity;
  const closing = new AbortController();

  async function over<Answer>(
    who: Waiting,
    ask: (connection: Connection) => Promise<Answer>,
  ): Promise<Answer> {
    if (opened?.isDoubted === true && !only) await reconsider(who, opened);
    if (opened !== undefined) return overSession(opened, ask);
    try {
      if (only) throw eraError();
      return await ask(modern);
    } catch (error) {
      if (!(error instanceof EraNotSupportedError) || clock.monotonic() < askAgainAt) throw error;
      const found = await earlier(who, error);
      return await (found === undefined ? ask(modern) : overSession(found, ask));
    }
  }

  async function overSession<Answer>(
    session: HttpSession,
    ask: (connection: Connection) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await ask(session.connection);
    } catch (error) {
      if (!(error instanceof ClientClosedError) || closing.signal.aborted) throw error;
      throw new ConnectionError("The session was given up: the server speaks another revision by now", {
        mayHaveRun: true,
        cause: error,
      });
    }
  }

  /** The session; undefined where the server speaks our revision after all. All who want it wait for one opening. */
  async function earlier(who: Waiting, refusal: EraNotSupportedError): Promise<HttpSession | undefined> {
    opening ??= openOnce(who, refusal).finally(() => (opening = undefined));
    const wait = linkSignals(who.signal, closing.signal);
    const limitMs = who.timeoutMs ?? settings.timeoutMs;
    const stop = clock.setTimer(limitMs, () =>
      wait.abort(
        new ConnectionError(`There was no session with the server within ${limitMs} ms`, {
          mayHaveRun: false,
        }),
      ),
    );
    try {
      return await raceSignal(opening, wait.signal);
    } finally {
      stop();
      wait.release();
    }
  }

  async function openOnce(who: Who, refusal: EraNotSupportedError): Promise<HttpSession | undefined> {
    try {
      const found = await openUnlessOurs(who, refusal);
      if (closing.signal.aborted) await found?.close();
      else opened = found;
      return found;
    } catch (error) {
      // Out of reach now says nothing about the revision; any other answer says that there is no session to be had.
      if (error instanceof ConnectionError) throw error;
      askAgainAt = clock.monotonic() + ASK_AGAIN_MS;
      throw refusal;
    }
  }

  async function openUnlessOurs(who: Who, refusal: EraNotSupportedError): Promise<HttpSession | undefined> {
    const found = await openSession(who, settings, closing.signal);
    if (only) return found;
    // The server's own word; a page for people may be a proxy's, and the trouble over by now.
    if (refusal.cause !== undefined || refusal.supported.length > 0) return found;
    try {
      await discover(who);
    } catch (error) {
      if (!(error instanceof ConnectionError)) return found;
      await found.close();
      throw new ConnectionError("The server could not be asked for its revision", {
        mayHaveRun: false,
        status: error.status,
        retryAfterMs: error.retryAfterMs,
        cause: error,
      });
    }
    await found.close();
    return undefined;
  }

  /** One question for all who want to know, and not often. */
  function reconsider(who: Who, session: HttpSession): Promise<void> {
    if (reconsidering !== undefined) return reconsidering;
    if (clock.monotonic() < reconsiderAt) return Promise.resolve();
    reconsiderAt = clock.monotonic() + ASK_AGAIN_MS;
    const upgraded = (): Promise<void> => {
      if (opened === session) opened = undefined;
      return session.close();
    };
    reconsidering = discover(who)
      .then(upgraded, () => undefined)
      .finally(() => (reconsidering = undefined));
    return reconsidering;
  }

  /** Resolves where the server speaks our revision. */
  async function discover({ clientInfo, capabilities }: Who): Promise<void> {
    const timeoutMs = Math.min(settings.timeoutMs, DISCOVER_MS);
    await modern.discover({ clientInfo, capabilities, timeoutMs });
  }

  return {
    identity: modern.identity,
    request: (method, params, options: RequestOptions) =>
      over(options, (connection) => connection.request(method, params, options)),
    discover: (options) => over(options, (connection) => connection.discover(options)),
    listen: (taskIds, options: ListenOptions) =>
      over(options, async (connection) => connection.listen?.(taskIds, options)),
    async release() {
      const session = opened;
      opened = undefined;
      await session?.close();
    },
    async close() {
      closing.abort(new ClientClosedError());
      await modern.close();
      await opened?.close();
    },
  };
}
