/** Owns who is signed in: a name in a signed cookie. A real host has accounts; what matters is that there is a check. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Hono } from "hono";
import { parseSigned, serializeSigned } from "hono/utils/cookie";
import type { SessionBody } from "./messages.js";

export const PEOPLE: readonly string[] = ["Ada", "Grace"];
const COOKIE = "desk";
const WEEK_S = 7 * 86_400;

export interface Sessions {
  /** The name of whoever sent the request, or undefined. */
  actor(request: Request): Promise<string | undefined>;
  /** `GET`: who am I. `POST {actor}`: signs in, or out where it is null. */
  readonly routes: Hono;
}

/** The cookie's secret lives in the folder, so that a restarted host knows its people. */
export function openSessions(folder: string): Sessions {
  const secret = secretIn(join(folder, "cookie.key"));

  async function actor(request: Request): Promise<string | undefined> {
    const cookies = await parseSigned(request.headers.get("cookie") ?? "", secret, COOKIE);
    const name = cookies[COOKIE];
    return typeof name === "string" && PEOPLE.includes(name) ? name : undefined;
  }

  const routes = new Hono();
  routes.get("/", async (c) =>
    c.json({ actor: (await actor(c.req.raw)) ?? null, people: PEOPLE } satisfies SessionBody),
  );
  routes.post("/", async (c) => {
    // Other sites cannot send JSON without being asked first, which is refused.
    if (!isJson(c.req.raw)) return c.json({ error: "application/json is expected" }, 415);
    const body = await c.req.json<{ actor?: unknown }>().catch(() => ({ actor: undefined }));
    const name = body.actor;
    if (name !== null && !PEOPLE.includes(name as string))
      return c.json({ error: "nobody of that name" }, 400);
    const options = { path: "/", httpOnly: true, sameSite: "Lax" } as const;
    const cookie =
      name === null
        ? await serializeSigned(COOKIE, "", secret, { ...options, maxAge: 0 })
        : await serializeSigned(COOKIE, name as string, secret, { ...options, maxAge: WEEK_S });
    c.header("set-cookie", cookie);
    return c.json({ actor: name as string | null, people: PEOPLE } satisfies SessionBody);
  });
  return { actor, routes };
}

export function isJson(request: Request): boolean {
  return /^application\/json\b/i.test(request.headers.get("content-type") ?? "");
}

function secretIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const secret = randomBytes(32).toString("base64url");
    writeFileSync(path, secret, { mode: 0o600 });
    return secret;
  }
}
