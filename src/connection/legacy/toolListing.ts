/** Owns which tools of a server may run as tasks. A listing that failed or was overtaken is made again at the next call. */
import { ClientClosedError, ConnectionError, InvalidResponseError, RpcError } from "../../errors.js";
import { raceSignal } from "../../internal/abort.js";
import { isObject, type JsonObject } from "../../internal/json.js";
import { RPC } from "../../protocol/index.js";
import { taskSupportOf, type TaskSupport } from "../../protocol/legacy.js";
import type { ChannelRequestOptions, LegacyChannel } from "./types.js";

/** More pages than this are a server that goes in circles. */
const MAX_PAGES = 1000;
/** A server that changes its list during every listing is not followed without end. */
const MAX_LISTINGS = 3;

/** What is known of a server's tools. */
export interface ToolListing {
  /**
   * How the tool may be called; lists the tools where that is not known, or `fresh` is asked for. Rejects with the
   * signal's reason, or with `ConnectionError` (`mayHaveRun: false`) when they cannot be listed.
   */
  supportOf(name: string, options: ChannelRequestOptions & { fresh?: boolean }): Promise<TaskSupport>;
  /** What is known is no longer true. */
  outdate(): void;
}

export function createToolListing(channel: LegacyChannel): ToolListing {
  let known: ReadonlyMap<string, TaskSupport> | undefined;
  let loading: Promise<ReadonlyMap<string, TaskSupport>> | undefined;
  let generation = 0;

  async function load(options: ChannelRequestOptions): Promise<ReadonlyMap<string, TaskSupport>> {
    for (let listing = 1; ; listing += 1) {
      const started = generation;
      const tools = await listAll(channel, options);
      if (started === generation) return (known = tools);
      // Overtaken by a change: true enough for those who wait, but not to be kept.
      if (listing === MAX_LISTINGS) return tools;
    }
  }

  function shared(options: ChannelRequestOptions): Promise<ReadonlyMap<string, TaskSupport>> {
    return (loading ??= load(options).finally(() => (loading = undefined)));
  }

  return {
    async supportOf(name, { fresh = false, signal, ...rest }) {
      if (fresh) outdate();
      signal?.throwIfAborted();
      try {
        // All who wait share one listing, so no signal of one of them ends it.
        const tools = known ?? (await raceSignal(shared(rest), signal));
        return tools.get(name) ?? "forbidden";
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        if (isMethodNotFound(error)) return "forbidden";
        throw listingError(error);
      }
    },
    outdate,
  };

  function outdate(): void {
    generation += 1;
    known = undefined;
  }
}

async function listAll(
  channel: LegacyChannel,
  options: ChannelRequestOptions,
): Promise<ReadonlyMap<string, TaskSupport>> {
  const tools = new Map<string, TaskSupport>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const raw = await channel.request("tools/list", cursor === undefined ? {} : { cursor }, options);
    cursor = readPage(raw, tools);
    if (cursor === undefined) return tools;
    if (seen.has(cursor)) throw new InvalidResponseError("tools/list: the server repeats a cursor");
    seen.add(cursor);
  }
  throw new InvalidResponseError(`tools/list: more than ${MAX_PAGES} pages`);
}

/** Adds the page's tools, and answers the next page's cursor. */
function readPage(raw: JsonObject, tools: Map<string, TaskSupport>): string | undefined {
  const listed: unknown = raw["tools"];
  if (!Array.isArray(listed)) throw new InvalidResponseError("tools: expected an array");
  for (const tool of listed as unknown[]) {
    if (isObject(tool) && typeof tool["name"] === "string") tools.set(tool["name"], taskSupportOf(tool));
  }
  const { nextCursor } = raw;
  return typeof nextCursor === "string" ? nextCursor : undefined;
}

/** The call was not sent, whatever the listing met: that is what its caller needs to know. */
function listingError(error: unknown): unknown {
  if (error instanceof ClientClosedError) return error;
  const { status, retryAfterMs } =
    error instanceof ConnectionError ? error : { status: undefined, retryAfterMs: undefined };
  return new ConnectionError("The tools could not be listed, so the call was not sent", {
    mayHaveRun: false,
    status: error instanceof RpcError ? error.status : status,
    retryAfterMs,
    cause: error,
  });
}

/** True for a server that refuses the method as a whole. */
export function isMethodNotFound(error: unknown): error is RpcError {
  return error instanceof RpcError && error.rpcCode === RPC.methodNotFound;
}
