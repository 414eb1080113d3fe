/** Owns the page of another company that a URL question leads to: it asks for consent, and tells the tool of it. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SignInPage {
  /** Where a person is sent for this errand. */
  urlFor(errand: string): string;
  /** Resolves once the person pressed "Allow" there. */
  allowed(errand: string): Promise<void>;
}

/** Listens on a free port of this machine, for as long as the process lives. */
export async function startSignInPage(): Promise<SignInPage> {
  const done = new Set<string>();
  const waiting = new Map<string, () => void>();

  const http = createServer((req, res) => {
    const url = new URL(req.url ?? "/", "http://calendar");
    const errand = url.searchParams.get("errand") ?? "";
    if (req.method !== "POST") return show(res, CONSENT);
    done.add(errand);
    waiting.get(errand)?.();
    show(res, "<h1>Thank you</h1><p>The calendar is linked. You can close this window.</p>");
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(0, "127.0.0.1", resolve);
  });
  const { port } = http.address() as AddressInfo;

  return {
    urlFor: (errand) => `http://localhost:${port}/consent?errand=${encodeURIComponent(errand)}`,
    allowed: (errand) =>
      done.has(errand) ? Promise.resolve() : new Promise((resolve) => waiting.set(errand, resolve)),
  };
}

const CONSENT = `<h1>Calendar</h1><p>The operations desk would like to read your calendar.</p>
<form method="post"><button>Allow</button></form>`;

function show(res: ServerResponse, body: string): void {
  const style =
    "body{font:16px system-ui;margin:15vh auto;max-width:24rem;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}";
  res
    .writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    })
    .end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Calendar</title><style>${style}</style>${body}</html>`,
    );
}
