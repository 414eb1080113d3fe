/** Owns what the tests of the connection share: a clock that stands still, requests, and scripted answers. */
import type { Clock } from "../../src/internal/clock.js";
import { TASKS_EXTENSION } from "../../src/protocol/index.js";
import type { RequestOptions } from "../../src/connection/types.js";
import type { ScriptedResponse, Step } from "../helpers/rawServer.js";

/** Time that moves only when the test says so. */
export class ManualClock implements Clock {
  #nowMs = 1_000;
  readonly #timers = new Set<{ dueMs: number; run: () => void }>();

  now = (): number => this.#nowMs;
  monotonic = (): number => this.#nowMs;

  setTimer(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const timer of [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs)) {
      this.#timers.delete(timer);
      timer.run();
    }
  }
}

export const requestOptions: RequestOptions = {
  clientInfo: { name: "test-host", version: "1.2.3" },
  capabilities: { extensions: { [TASKS_EXTENSION]: {} }, elicitation: { form: {}, url: {} } },
};

export const JSON_HEADERS = { "content-type": "application/json" };
export const SSE_HEADERS = { "content-type": "text/event-stream" };

/** A JSON-RPC result with the request's id. */
export function resultText(result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id: "{{id}}", result });
}

export function errorText(error: unknown, id: string | null = "{{id}}"): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

export function json(text: string, status = 200, headers: Record<string, string> = {}): ScriptedResponse {
  return { status, headers: { ...JSON_HEADERS, ...headers }, steps: [{ text }] };
}

export function sse(...steps: Step[]): ScriptedResponse {
  return { headers: SSE_HEADERS, steps };
}

/** What a promise rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const resolved = Symbol("resolved");
  const outcome: unknown = await promise.then(
    () => resolved,
    (error: unknown) => error,
  );
  if (outcome === resolved) throw new Error("expected a rejection");
  return outcome;
}
