/** Owns the shortest proof that the example works: page, sign-in, one message, its tool call, its answer. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { ChatMessage, ConversationBody } from "./messages.js";

const LIMIT_MS = 20_000;

/** Rejects when something is not as it should be. */
export async function smoke(url: string): Promise<void> {
  const page = await fetch(url);
  assert.equal(page.status, 200);
  const script = /src="([^"]+\.js)"/.exec(await page.text())?.[1];
  assert.ok(script !== undefined, "The page has no script");
  assert.equal((await fetch(new URL(script, url))).status, 200);

  // Nobody gets in without a cookie.
  assert.equal((await fetch(new URL("/api/conversation", url))).status, 403);
  assert.equal((await fetch(new URL("/api/tasks/tasks", url))).status, 403);
  const cookie = await signIn(url, "Ada");

  const id = randomUUID();
  await post(url, cookie, "/api/chat", { id, text: '/call echo {"text":"hello"}' });
  const limitMs = Date.now() + LIMIT_MS;
  for (;;) {
    const end = (await messages(url, cookie)).find(({ endOf }) => endOf === `${id}.0`);
    if (end !== undefined) return assert.equal(end.text, "hello");
    assert.ok(Date.now() < limitMs, "The tool call has no end");
    await pause(100);
  }
}

/** Answers the cookie. */
export async function signIn(url: string, actor: string): Promise<string> {
  const signedIn = await post(url, "", "/api/session", { actor });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0];
  assert.ok(cookie !== undefined, "The host set no cookie");
  return cookie;
}

async function post(url: string, cookie: string, path: string, body: object): Promise<Response> {
  const response = await fetch(new URL(path, url), {
    method: "POST",
    headers: { "content-type": "application/json", cookie },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, `${path} answered ${response.status}`);
  return response;
}

async function messages(url: string, cookie: string): Promise<readonly ChatMessage[]> {
  const response = await fetch(new URL("/api/conversation", url), { headers: { cookie } });
  return ((await response.json()) as ConversationBody).messages;
}
