/** Owns the SDK clients of the table, built as a host would: connected, declaring elicitation, on either transport. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "mcp-taskrail";
import type { Endpoint } from "./job.js";

const info = { name: "interop", version: "0.0.0" };

/** Answers the host's own elicitation handler; absent where the host has none. */
export interface SdkClientOptions {
  readonly endpoint: Endpoint;
  readonly negotiation: "auto" | "legacy";
  readonly answer: JsonObject | undefined;
  /** Called when the SDK's own handler is asked, which the drop-in uses as its default. */
  readonly onQuestion: () => void;
}

/** A connected client of `@modelcontextprotocol/sdk` 1.x. */
export async function connectV1({ endpoint, answer, onQuestion }: SdkClientOptions): Promise<ClientV1> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new ClientV1(info, { capabilities });
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, () => {
      onQuestion();
      return answer;
    });
  }
  const transport =
    endpoint.kind === "http"
      ? new HttpV1(new URL(endpoint.url))
      : new StdioV1({ command: endpoint.command, args: [...endpoint.args] });
  await client.connect(transport);
  return client;
}

/** A connected client of `@modelcontextprotocol/client` 2.x. */
export async function connectV2(options: SdkClientOptions): Promise<ClientV2> {
  const { endpoint, negotiation, answer, onQuestion } = options;
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new ClientV2(info, {
    capabilities,
    versionNegotiation: { mode: negotiation },
  });
  if (answer !== undefined) {
    client.setRequestHandler("elicitation/create", () => {
      onQuestion();
      return answer as JsonObject & { action: "accept" };
    });
  }
  const transport =
    endpoint.kind === "http"
      ? new HttpV2(new URL(endpoint.url))
      : new StdioV2({ command: endpoint.command, args: [...endpoint.args] });
  await client.connect(transport);
  return client;
}
