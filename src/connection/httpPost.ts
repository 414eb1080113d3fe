/** Owns sending one POST and following its redirects. It adds no header, repeats nothing and reads no answer. */
import { ConnectionError } from "../errors.js";
import { discardBody } from "./body.js";
import { fetchFailure } from "./failures.js";
import type { FetchInit, HttpSettings, ResponseLike } from "./httpOptions.js";
import type { Lifetime } from "./lifetime.js";

const MAX_REDIRECTS = 5;

/** Where a request goes, and how long it may live. */
interface PostOptions extends Pick<HttpSettings, "url" | "fetch"> {
  readonly lifetime: Lifetime;
}

/** The response, after redirects within the origin. Rejects with `ConnectionError`, or as the lifetime ends. */
export async function post(init: FetchInit, options: PostOptions): Promise<ResponseLike> {
  let target = options.url;
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(target, init, options);
    const { status } = response;
    if (response.type !== "opaqueredirect" && (status < 300 || status > 399)) return response;
    discardBody(response.body);
    target = redirectTarget(response, target, redirects);
  }
}

async function send(target: URL, init: FetchInit, { fetch, lifetime }: PostOptions): Promise<ResponseLike> {
  lifetime.markSent();
  const responding = (async () => fetch(target.href, init))();
  // A fetch that ignores its signal may still answer: nobody would read that body.
  responding.then(
    (late) => lifetime.signal.aborted && discardBody(late.body),
    () => undefined,
  );
  try {
    return await lifetime.race(responding);
  } catch (error) {
    lifetime.signal.throwIfAborted();
    throw fetchFailure(error);
  }
}

/** Where to send the same request again. Throws `ConnectionError` for a redirect that must not be followed. */
function redirectTarget(response: ResponseLike, from: URL, redirects: number): URL {
  const { status } = response;
  const refuse = (why: string): never => {
    throw new ConnectionError(`The server redirects (HTTP ${status}), ${why}`, { status, mayHaveRun: true });
  };
  // Browsers hide where a redirect leads.
  if (response.type === "opaqueredirect") refuse("which cannot be followed here: use the final URL");
  if (status !== 307 && status !== 308) refuse("with a status that does not repeat a POST");
  if (redirects >= MAX_REDIRECTS) refuse(`more than ${MAX_REDIRECTS} times`);
  const location = response.headers.get("location");
  if (location === null || !URL.canParse(location, from.href)) return refuse("but does not say where to");
  const target = new URL(location, from.href);
  if (target.origin !== from.origin) refuse("to another origin, where the credentials must not go");
  if (target.username !== "" || target.password !== "") refuse("to a URL with a user name or password");
  return target;
}
