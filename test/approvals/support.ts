/** Owns what the approvals' tests share: a person's requests, reading a stream by hand, waiting for a state of the page. It asserts nothing. */
import type {
  RefusalBody,
  SnapshotEvent,
  TaskView,
  TasksState,
  TasksStore,
} from "../../src/approvals/index.js";
import { readEvents } from "../../src/connection/sse.js";

/** An event of a stream, read. */
export interface StreamEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A stream that is read by hand. */
export interface OpenStream {
  readonly response: Response;
  /** The next event; rejects when the stream ends. */
  next(): Promise<StreamEvent>;
  /** Reads on until an event fits. */
  until(fits: (event: StreamEvent) => boolean): Promise<StreamEvent>;
  /** Resolves when the stream has ended in good order. */
  ended(): Promise<void>;
  close(): Promise<void>;
}

/** Reads a response as a stream of events. */
export function readStream(response: Response, abort: () => void = () => undefined): OpenStream {
  if (response.body === null) throw new Error("There is no body");
  const events = readEvents(response.body);
  async function next(): Promise<StreamEvent> {
    const { done, value } = await events.next();
    if (done === true) throw new Error("The stream has ended");
    return { event: value.event ?? "", data: JSON.parse(value.data) as Record<string, unknown> };
  }
  return {
    response,
    next,
    async until(fits) {
      for (;;) {
        const event = await next();
        if (fits(event)) return event;
      }
    },
    async ended() {
      for (let step = await events.next(); step.done !== true; step = await events.next());
    },
    async close() {
      abort();
      await events.return().catch(() => undefined);
    },
  };
}

/** Opens `GET events` over the network. */
export async function openEvents(url: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  const abort = new AbortController();
  const response = await fetch(`${url}/events`, { headers, signal: abort.signal });
  return readStream(response, () => abort.abort());
}

/** The call of a `task` event, if the event is one. */
export function taskOf({ event, data }: StreamEvent): TaskView | undefined {
  return event === "task" ? (data["task"] as TaskView) : undefined;
}

/** True for a `task` event whose call fits. */
export function shows(fits: (task: TaskView) => boolean): (event: StreamEvent) => boolean {
  return (event) => {
    const task = taskOf(event);
    return task !== undefined && fits(task);
  };
}

export async function list(url: string, headers: Record<string, string> = {}): Promise<SnapshotEvent> {
  return (await (await fetch(`${url}/tasks`, { headers })).json()) as SnapshotEvent;
}

/** `POST` of JSON. */
export function post(
  url: string,
  route: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** The refusal that a response holds, with its status. */
export async function refusal(response: Response): Promise<RefusalBody["error"] & { status: number }> {
  const { error } = (await response.json()) as RefusalBody;
  return { ...error, status: response.status };
}

/** Resolves with the first state that fits, now or later. */
export function stateOf(store: TasksStore, fits: (state: TasksState) => boolean): Promise<TasksState> {
  return new Promise((resolve) => {
    const stop = store.subscribe(look);
    function look(): void {
      const state = store.getSnapshot();
      if (!fits(state)) return;
      stop();
      resolve(state);
    }
    look();
  });
}

/** Resolves once the condition holds; looks again after a moment of real work. */
export async function until(holds: () => boolean | Promise<boolean>, limit = 2000): Promise<void> {
  for (let round = 0; round < limit; round += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("The condition did not come to hold");
}
