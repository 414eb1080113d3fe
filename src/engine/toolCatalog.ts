/** Owns what is known of a server's tools: listing with pages, caching by the server's time to live. */
import { InvalidResponseError } from "../errors.js";
import { readToolsPage, type ToolDescription } from "../protocol/index.js";
import type { ServerLane } from "./serverLane.js";
import type { EngineOptions } from "./types.js";

/** More pages than this are a server that goes in circles. */
const MAX_PAGES = 1000;

/** The tools of one server. */
export interface ToolCatalog {
  /** All tools, from the cache while the server's `ttlMs` allows. `fresh` asks anew. */
  list(options?: { fresh?: boolean; signal?: AbortSignal | undefined }): Promise<readonly ToolDescription[]>;
  /** The tool, if it was listed before; nothing is asked. */
  known(name: string): ToolDescription | undefined;
}

export function createToolCatalog(
  lane: ServerLane,
  options: Pick<EngineOptions, "clock" | "requestTimeoutMs">,
  onDropped: (tool: string, reason: string) => void,
): ToolCatalog {
  const { clock } = options;
  let cached:
    { tools: readonly ToolDescription[]; byName: Map<string, ToolDescription>; until: number } | undefined;

  async function load(signal: AbortSignal | undefined): Promise<readonly ToolDescription[]> {
    const tools: ToolDescription[] = [];
    const seen = new Set<string>();
    let ttlMs = Infinity;
    let cursor: string | undefined;
    for (let page = 0; ; page += 1) {
      if (page === MAX_PAGES) throw new InvalidResponseError(`tools/list: more than ${MAX_PAGES} pages`);
      const raw = await lane.request({
        method: "tools/list",
        params: cursor === undefined ? {} : { cursor },
        signal,
        timeoutMs: options.requestTimeoutMs,
        direct: true,
      });
      const read = readToolsPage(raw);
      for (const tool of read.tools) tools.push(tool);
      for (const { name, reason } of read.dropped) onDropped(name, reason);
      ttlMs = Math.min(ttlMs, read.ttlMs ?? 0);
      cursor = read.nextCursor;
      if (cursor === undefined) break;
      if (seen.has(cursor)) throw new InvalidResponseError("tools/list: the server repeats a cursor");
      seen.add(cursor);
    }
    cached = {
      tools,
      byName: new Map(tools.map((tool) => [tool.name, tool])),
      until: clock.monotonic() + ttlMs,
    };
    return tools;
  }

  return {
    async list({ fresh = false, signal } = {}) {
      if (!fresh && cached !== undefined && clock.monotonic() < cached.until) return cached.tools;
      return load(signal);
    },
    known: (name) => cached?.byName.get(name),
  };
}
