/** Owns the streams of notices of one simulated server. What is pushed may be late, stale, double, or nothing at all. */
import type { JsonObject } from "../../src/internal/json.js";
import type { Exchange } from "./observation.js";
import type { Random } from "./random.js";
import type { ServerSpec } from "./scenario.js";
import { shown, type ServerTask } from "./serverTask.js";
import type { World } from "./world.js";

/** The server's end of a stream. */
export interface StreamSink {
  write(text: string): void;
  end(): void;
  cut(): void;
}

/** How a subscription is answered. */
export type ListenWord =
  | { readonly error: { code: number; message: string } }
  /** Called when the network is ready to carry the stream; answers what to do when the client has left. */
  | { readonly open: (sink: StreamSink) => () => void };

export interface PushDesk {
  listen(exchange: Exchange): ListenWord;
  changed(task: ServerTask): void;
  cutAll(): void;
  readonly streams: number;
}

interface Stream {
  readonly id: string;
  readonly taskIds: ReadonlySet<string>;
  readonly sink: StreamSink;
  silent: boolean;
}

export function createPushDesk(
  world: World,
  random: Random,
  server: { readonly tasks: ReadonlyMap<string, ServerTask>; readonly spec: ServerSpec },
): PushDesk {
  const streams = new Set<Stream>();

  function listen({ params, rpcId }: Exchange): ListenWord {
    if (!server.spec.pushes || world.fault("pushAbsent")) {
      return { error: { code: -32601, message: "no such method" } };
    }
    const { taskIds } = params["notifications"] as unknown as { taskIds: string[] };
    const lives = taskIds.filter((taskId) => server.tasks.get(taskId)?.gone === false);
    if (world.fault("pushRefused")) return { error: { code: -32602, message: "unknown task" } };
    const accepted = world.fault("pushPartial") ? lives.filter(() => random.chance(0.5)) : lives;
    return {
      open(sink) {
        const stream: Stream = { id: rpcId, taskIds: new Set(accepted), sink, silent: false };
        streams.add(stream);
        send(stream, "notifications/subscriptions/acknowledged", { notifications: { taskIds: accepted } });
        plan(stream);
        return () => void streams.delete(stream);
      },
    };
  }

  function plan(stream: Stream): void {
    const { time } = world;
    const keepAlive = (): void => {
      if (!streams.has(stream)) return;
      if (!stream.silent) stream.sink.write(": alive\n\n");
      time.after(server.spec.keepAliveMs, keepAlive);
    };
    time.after(server.spec.keepAliveMs, keepAlive);
    if (world.fault("pushCut")) time.after(random.int(10, 60_000), () => cut(stream));
    if (world.fault("pushSilence")) {
      time.after(random.int(0, 30_000), () => void (stream.silent = true));
      // Even a half-open connection ends at some time.
      time.after(600_000, () => cut(stream));
    }
    if (world.fault("pushEnd")) {
      time.after(random.int(10, 60_000), () => {
        if (!streams.delete(stream) || stream.silent) return;
        stream.sink.write(event({ jsonrpc: "2.0", id: stream.id, result: { resultType: "complete" } }));
        stream.sink.end();
      });
    }
  }

  function cut(stream: Stream): void {
    if (streams.delete(stream)) stream.sink.cut();
  }

  function changed(task: ServerTask): void {
    for (const stream of [...streams]) {
      if (!stream.taskIds.has(task.taskId) || stream.silent) continue;
      const { resultType: _type, ...now } = shown(task);
      const old = task.past[0];
      if (old !== undefined && world.fault("pushStale")) {
        const { resultType: _old, ...before } = old;
        const late = random.chance(0.5);
        if (!late) send(stream, "notifications/tasks", before);
        send(stream, "notifications/tasks", now);
        if (late) send(stream, "notifications/tasks", before);
      } else send(stream, "notifications/tasks", now);
      if (world.fault("pushDuplicate")) send(stream, "notifications/tasks", now);
    }
  }

  function send(stream: Stream, method: string, params: JsonObject): void {
    const marked = { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": stream.id } };
    stream.sink.write(event({ jsonrpc: "2.0", method, params: marked }));
  }

  return {
    listen,
    changed,
    cutAll() {
      for (const stream of [...streams]) cut(stream);
    },
    get streams() {
      return streams.size;
    },
  };
}

function event(message: JsonObject): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}
