/** OAuth plugs in as a fetch: the SDK's middleware, against a token endpoint and a resource that checks tokens. */
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { withOAuth } from "@modelcontextprotocol/sdk/client/middleware.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpConnection } from "../../src/connection/http.js";
import { ConnectionError } from "../../src/errors.js";
import { startRawServer, type RawServer } from "../helpers/rawServer.js";
import { json, rejection, requestOptions, resultText } from "./support.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
  const { origin } = server;
  const metadata = `${origin}/.well-known/oauth-protected-resource/guarded`;
  await server.script(
    "/guarded",
    { ...json(resultText({ content: [] })), ifHeader: { name: "authorization", value: "Bearer fresh" } },
    { status: 401, headers: { "www-authenticate": `Bearer resource_metadata="${metadata}"` } },
  );
  await server.script(
    "/.well-known/oauth-protected-resource/guarded",
    json(JSON.stringify({ resource: `${origin}/guarded`, authorization_servers: [origin] })),
  );
  await server.script(
    "/.well-known/oauth-authorization-server",
    json(
      JSON.stringify({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      }),
    ),
  );
  await server.script(
    "/token",
    {
      ...json(JSON.stringify({ access_token: "fresh", token_type: "Bearer", refresh_token: "renewal-2" })),
      ifBody: "refresh_token=renewal-1",
    },
    json(JSON.stringify({ error: "invalid_grant" }), 400),
  );
});
afterAll(() => server.stop());

class Provider implements OAuthClientProvider {
  saved: OAuthTokens | undefined;
  redirects = 0;
  #verifier = "";

  constructor(refreshToken: string) {
    this.saved = {
      access_token: "stale",
      token_type: "Bearer",
      refresh_token: refreshToken,
      issuer: server.origin,
    };
  }
  get redirectUrl(): string {
    return "http://localhost/callback";
  }
  get clientMetadata(): OAuthClientProvider["clientMetadata"] {
    return { redirect_uris: [this.redirectUrl] };
  }
  clientInformation = (): { client_id: string; issuer: string } => ({
    client_id: "host",
    issuer: server.origin,
  });
  tokens = (): OAuthTokens | undefined => this.saved;
  saveTokens = (tokens: OAuthTokens): void => void (this.saved = tokens);
  invalidateCredentials = (): void => void (this.saved = undefined);
  redirectToAuthorization = (): void => void (this.redirects += 1);
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  codeVerifier = (): string => this.#verifier;
}

describe("withOAuth around fetch", () => {
  it("renews a token that has run out, and the call goes through: one execution", async () => {
    const provider = new Provider("renewal-1");
    const url = `${server.origin}/guarded`;
    const connection = httpConnection(url, { fetch: withOAuth(provider, url)(fetch) });
    expect(await connection.request("tools/call", { name: "t" }, requestOptions)).toEqual({ content: [] });
    expect(provider.saved).toMatchObject({ access_token: "fresh", refresh_token: "renewal-2" });
    const tokens = (await server.log("/guarded")).map(({ headers }) => headers["authorization"]);
    expect(tokens).toEqual(["Bearer stale", "Bearer fresh"]);
    expect(await connection.request("tasks/get", { taskId: "task-0001" }, requestOptions)).toEqual({
      content: [],
    });
    expect(await server.log("/token")).toHaveLength(1);
  });

  it("that cannot renew is a 401: not executed, no credential in the message", async () => {
    const provider = new Provider("revoked");
    const url = `${server.origin}/guarded`;
    const connection = httpConnection(url, { fetch: withOAuth(provider, url)(fetch) });
    const error = await rejection(connection.request("tools/call", { name: "t" }, requestOptions));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ status: 401, mayHaveRun: false });
    expect((error as Error).message).not.toMatch(/stale|revoked/);
    expect(provider.redirects).toBe(1);
  });
});
