/** Owns what is done to both hosts: the tool call, the faults, the kills. No measuring. */
import type { Fault, SpawnedTaskServer, StepsTool, TaskStep } from "mcp-taskrail/testing";

/** How often the server wants to be asked, in ms. */
export const POLL_INTERVAL_MS = 500;

/** The one tool that is called. */
export const TOOL = "work";

/** What a scenario may do while the host runs. */
export interface Steering {
  readonly server: SpawnedTaskServer;
  /** Resolves when the server has made a task for this side. */
  readonly taskMade: () => Promise<void>;
  /** Resolves when the server has answered so many requests of the method, since this side began. */
  readonly answered: (method: string, count: number) => Promise<void>;
  /** Resolves when the host has put its question to the person. */
  readonly asked: () => Promise<void>;
  /** SIGKILL for the host; resolves when it is gone. */
  readonly killHost: () => Promise<void>;
  /** A new host process on the same folder. */
  readonly startHost: (settings: HostSettings) => void;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface HostSettings {
  /** The person answers at once; otherwise never. Default true. */
  readonly answers?: boolean;
  /** Of the request that calls the tool. Default 30 000. */
  readonly timeoutMs?: number;
  /** How long the host lives on after an outcome or an error. Default 0. */
  readonly holdMs?: number;
}

export interface Scenario {
  readonly title: string;
  /** What the task is made of. */
  readonly steps: readonly TaskStep[];
  readonly host?: HostSettings;
  readonly faults?: readonly Fault[];
  /** When the task is over at the server, in ms after its creation; unknown where a person is in it. */
  readonly endsAfterMs?: number;
  steer?(steering: Steering): Promise<void>;
}

// With `resultType`, which the peer wants in the results inside tasks too.
const complete: TaskStep = {
  kind: "complete",
  result: { resultType: "complete", content: [{ type: "text", text: "done" }] },
};
const slow = (ms: number) => ({ steps: [{ kind: "work", ms }, complete] as const, endsAfterMs: ms });
const approval: readonly TaskStep[] = [
  {
    kind: "ask",
    requests: {
      approval: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Deploy?",
          requestedSchema: {
            type: "object",
            properties: { approve: { type: "boolean" } },
            required: ["approve"],
          },
        },
      },
    },
  },
  complete,
];
const unavailable = { kind: "status", status: 503, body: "unavailable", contentType: "text/plain" } as const;
const silent = { method: "subscriptions/listen", kind: "stream", silent: true, times: -1 } as const;

export const SCENARIOS: readonly Scenario[] = [
  { title: "a task of 3 s, nothing goes wrong", ...slow(3000) },
  {
    title: "the same, its result as in the specification's examples (no `resultType` inside)",
    steps: [
      { kind: "work", ms: 3000 },
      { kind: "complete", result: { content: [{ type: "text", text: "done" }] } },
    ],
    endsAfterMs: 3000,
  },
  {
    title: "one 503 during polling",
    ...slow(3000),
    faults: [{ method: "tasks/get", nth: 2, ...unavailable }],
  },
  {
    title: "three 503 in a row during polling",
    ...slow(3000),
    faults: [{ method: "tasks/get", nth: 2, times: 3, ...unavailable }],
  },
  {
    title: "one 429 with Retry-After: 2 during polling",
    ...slow(3000),
    faults: [{ method: "tasks/get", nth: 2, kind: "rateLimit", retryAfter: 2 }],
  },
  {
    title: "streams that are acknowledged, then silent, 4 s task",
    ...slow(4000),
    faults: [silent],
  },
  {
    title: "streams that are silent, 40 s task",
    ...slow(40_000),
    faults: [silent],
  },
  {
    title: "host killed with an open question, started again",
    steps: approval,
    host: { answers: false },
    async steer({ asked, killHost, startHost }) {
      await asked();
      await killHost();
      startHost({ answers: true });
    },
  },
  {
    title: "host killed before the answer to its call, started again",
    ...slow(1000),
    faults: [{ method: "tools/call", kind: "delay", ms: 2000, processed: true }],
    async steer({ taskMade, killHost, startHost }) {
      await taskMade();
      await killHost();
      startHost({});
    },
  },
  {
    title: "three 503 to the person's answer",
    steps: approval,
    faults: [{ method: "tasks/update", times: 3, ...unavailable }],
  },
  {
    title: "server killed for 2 s while the task runs",
    ...slow(4000),
    async steer({ answered, server, sleep }) {
      await answered("tasks/get", 2);
      await server.kill();
      await sleep(2000);
      await server.restart();
    },
  },
  {
    title: "the handle comes after the caller's time-out",
    ...slow(2000),
    host: { timeoutMs: 500, holdMs: 5000 },
    faults: [{ method: "tools/call", kind: "delay", ms: 1500, processed: true }],
  },
];

/** The scenario's tool, as the server has it. */
export function toolOf({ steps }: Scenario): StepsTool {
  return { name: TOOL, steps, taskSupport: "required" };
}
