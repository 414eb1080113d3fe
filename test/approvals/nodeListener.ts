/** Owns the recipe of docs/approvals.md for node:http and Express: a listener around a function from request to response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";

/** The listener. It works before body parsers only: they would have read the body. */
export function nodeListener(
  handle: (request: Request) => Promise<Response>,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const gone = new AbortController();
    res.once("close", () => gone.abort());
    const hasBody = req.method !== "GET" && req.method !== "HEAD";
    // `originalUrl` is Express's: the path before it was cut at the mount point.
    const path = (req as { originalUrl?: string }).originalUrl ?? req.url ?? "/";
    const request = new Request(`http://${req.headers.host ?? "localhost"}${path}`, {
      method: req.method ?? "GET",
      headers: Object.entries(req.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      ),
      signal: gone.signal,
      ...(hasBody
        ? { body: Readable.toWeb(req) as unknown as ReadableStream<Uint8Array>, duplex: "half" }
        : {}),
    });
    void handle(request)
      .then(async (response) => {
        res.writeHead(response.status, Object.fromEntries(response.headers));
        if (response.body === null) res.end();
        else await pipeline(Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>), res);
      })
      .catch(() => res.destroy());
  };
}
