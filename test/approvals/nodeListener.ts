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
    let request: Request;
    try {
      request = requestOf(req, res);
    } catch {
      // Whatever anybody sends comes here: no fetch request can have the method TRACE, for one.
      res.writeHead(400, { connection: "close" }).end();
      return;
    }
    void handle(request)
      .then(async (response) => {
        res.writeHead(response.status, Object.fromEntries(response.headers));
        if (response.body === null) res.end();
        else await pipeline(Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>), res);
      })
      .catch(() => res.destroy());
  };
}

function requestOf(req: IncomingMessage & { originalUrl?: string }, res: ServerResponse): Request {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  const hasBody = req.method !== "GET" && req.method !== "HEAD";
  // `originalUrl` is Express's: the path before it was cut at the mount point.
  const path = req.originalUrl ?? req.url ?? "/";
  if (!path.startsWith("/")) throw new TypeError("Not a path");
  // Not the header Host, which may say anything: the handler looks at that itself.
  return new Request(`http://host.invalid${path}`, {
    method: req.method ?? "GET",
    headers: Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
    signal: gone.signal,
    ...(hasBody
      ? { body: Readable.toWeb(req) as unknown as ReadableStream<Uint8Array>, duplex: "half" }
      : {}),
  });
}
