/** Owns a simulated server and the truth about it: what was executed, which tasks there are, who answered. It knows no HTTP. */
import type { JsonObject } from "../../src/internal/json.js";
import { createHints, type Hints } from "./hints.js";
import type { Exchange } from "./observation.js";
import { createPushDesk, type PushDesk } from "./push.js";
import type { CallSpec, ServerSpec } from "./scenario.js";
import {
  isTerminal,
  requestOf,
  resultOf,
  SECRET,
  shown,
  startTask,
  taskAnswered,
  taskCancelled,
  taskRewords,
  type ServerQuestion,
  type ServerTask,
} from "./serverTask.js";
import type { World } from "./world.js";

/** What a server says to one request. */
export type ServerWord =
  { readonly result: JsonObject } | { readonly error: { code: number; message: string; data?: unknown } };

export interface SimServer {
  readonly index: number;
  readonly spec: ServerSpec;
  readonly tasks: ReadonlyMap<string, ServerTask>;
  readonly push: PushDesk;
  /** Nobody is at home until then. */
  downUntil: number;
  /** Credentials are refused until then. */
  refusesUntil: number;
  answer(exchange: Exchange): ServerWord;
  restart(options: { forgets: boolean; downMs: number }): void;
  /** How often each call was executed. */
  readonly executed: ReadonlyMap<number, number>;
}

const META = { "io.modelcontextprotocol/serverInfo": { name: "sim", version: "1" } };
const INVALID = -32602;

export function createServer(world: World, spec: ServerSpec): SimServer {
  const { time } = world;
  const random = world.random(`server ${spec.index}`);
  const words = world.random(`words of server ${spec.index}`);
  const tasks = new Map<string, ServerTask>();
  const executed = new Map<number, number>();
  const staleReads = new Map<string, number>();
  const deaf = new Set<ServerTask>();
  const hints: Hints = createHints(world, random);
  const push = createPushDesk(world, random, { tasks, spec });

  function answer(exchange: Exchange): ServerWord {
    const secretEcho = world.fault("echoSecrets");
    if (secretEcho) {
      const message = `cannot ${JSON.stringify(exchange.params)} for Bearer ${SECRET}-${exchange.scope}`;
      // A call that is answered with an error is over: that is another world's case.
      if (exchange.method !== "tools/call") return { error: { code: -32603, message, data: { message } } };
    }
    switch (exchange.method) {
      case "server/discover":
        return complete({
          supportedVersions: ["2026-07-28"],
          capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
        });
      case "tools/list":
        return complete({ tools: TOOLS, ttlMs: 60_000 });
      case "tools/call":
        return call(exchange);
      case "tasks/get":
        return get(exchange);
      case "tasks/update":
        return update(exchange);
      case "tasks/cancel":
        return cancel(exchange);
      default:
        return { error: { code: -32601, message: "no such method" } };
    }
  }

  function call(exchange: Exchange): ServerWord {
    const { n } = exchange.params["arguments"] as { n: number };
    const callSpec = world.scenario.calls.find((one) => one.n === n);
    if (callSpec === undefined) return { error: { code: INVALID, message: "no such call" } };
    const round = roundOf(exchange, callSpec);
    if (round < callSpec.rounds) {
      world.count("round before a task");
      const key = `r${n}-${round}`;
      return {
        result: {
          resultType: "input_required",
          inputRequests: { [key]: requestOf({ key, kind: "form" }) },
          requestState: `${SECRET}-state-${n}-${round}`,
        },
      };
    }
    const times = (executed.get(n) ?? 0) + 1;
    executed.set(n, times);
    world.observe({ kind: "executed", n, times });
    if (callSpec.makes === "result") return complete(resultOf(callSpec));
    if (callSpec.makes === "error") return { error: { code: -32050, message: `call ${n} failed` } };
    const taskId = `${SECRET}-s${spec.index}-task-${n}-${times}`;
    const task = startTask({
      spec: callSpec,
      taskId,
      scope: exchange.scope,
      time,
      random: random.fork(`task ${n} ${times}`),
      hints: hints.change,
      changed: (changed) => {
        world.trace.note(`task ${n} is ${changed.status} at the server`);
        if (!changed.gone) push.changed(changed);
      },
      asked: planRewording,
    });
    tasks.set(taskId, task);
    hints.change(task);
    if (callSpec.ttlMs !== null && random.chance(0.6)) time.after(callSpec.ttlMs, () => forget(task));
    const { result: _result, error: _error, ...handle } = shown(task);
    return { result: { ...handle, resultType: "task", _meta: META } };
  }

  /** What was answered once, though in vain, stays as it is: nobody would be asked again. */
  function planRewording(task: ServerTask, question: ServerQuestion): void {
    if (!world.fault("questionChanged", 3) || question.request["params"] === undefined) return;
    time.after(words.int(500, 40_000), () => {
      const { state, wasAnswered } = question;
      if (state === "open" && !wasAnswered && !task.gone && !world.calm) taskRewords(task, question);
    });
  }

  /** The round that the request goes on with; a request without a state begins anew. */
  function roundOf({ params, process, scope }: Exchange, callSpec: CallSpec): number {
    const state = params["requestState"];
    if (typeof state !== "string") return 0;
    const [, round = "0"] = /-(\d+)$/.exec(state) ?? [];
    const key = `r${callSpec.n}-${round}`;
    const response = (params["inputResponses"] as JsonObject | undefined)?.[key];
    if (response === undefined) return Number(round);
    const given = response as JsonObject;
    world.observe({ kind: "took", n: callSpec.n, key, response: given, sender: process, scope });
    return Number(round) + 1;
  }

  function get(exchange: Exchange): ServerWord {
    const task = known(exchange);
    if (task === undefined) return unknown(exchange);
    if (task.saidGone === 0 && !isTerminal(task.status) && world.fault("unknownOnce")) {
      task.saidGone += 1;
      return { error: { code: INVALID, message: "Unknown task" } };
    }
    if (world.fault("rpcInternal")) return { error: { code: -32603, message: "internal" } };
    if (world.fault("otherTask")) return { result: strange(task) };
    const staleKey = `${exchange.process.name} ${task.taskId}`;
    const stale = staleReads.get(staleKey) ?? 0;
    const old = task.past[0];
    // More of them in a row would be a server whose clock went back, which is to be believed.
    if (stale < 2 && old !== undefined && world.fault("staleRead")) {
      staleReads.set(staleKey, stale + 1);
      return { result: old };
    }
    const state = shown(task);
    if (isTerminal(task.status) && world.fault("unprovenEnd")) {
      const { result: _result, error: _error, ...bare } = state;
      return { result: bare };
    }
    return { result: { ...state, _meta: META } };
  }

  function update(exchange: Exchange): ServerWord {
    const task = known(exchange);
    if (task === undefined) return unknown(exchange);
    const given = Object.entries(exchange.params["inputResponses"] as JsonObject);
    const questions = given.flatMap(([key]) => task.questions.get(key) ?? []);
    for (const question of questions) question.wasAnswered = true;
    const refused = questions.find(({ refusals }) => refusals > 0);
    if (refused !== undefined && world.fault("updateRefused")) {
      refused.refusals -= 1;
      return { error: { code: INVALID, message: "The answer does not fit" } };
    }
    for (const [key, response] of given) {
      const question = task.questions.get(key);
      if (question?.state !== "open") continue;
      if (question.losses > 0 && world.fault("answerNotTaken")) {
        question.losses -= 1;
        continue;
      }
      question.state = "answered";
      const { n } = task.spec;
      const taken = response as JsonObject;
      world.observe({
        kind: "took",
        n,
        key,
        response: taken,
        sender: exchange.process,
        scope: exchange.scope,
        asked: { edition: question.edition, sentAt: exchange.sentAt, taskId: task.taskId },
      });
      taskAnswered(task);
    }
    return complete({});
  }

  function cancel(exchange: Exchange): ServerWord {
    const task = known(exchange);
    if (task === undefined) return unknown(exchange);
    // Acknowledged, and forgotten: once.
    if (!deaf.has(task) && world.fault("cancelNotTaken", 3)) deaf.add(task);
    else taskCancelled(task);
    return complete({});
  }

  /** What is true of some other task. */
  function strange(task: ServerTask): JsonObject {
    const end = {
      status: "failed",
      statusMessage: "another's",
      error: { code: -32050, message: "another's" },
    };
    const { result: _result, inputRequests: _inputs, ...state } = shown(task);
    return { ...state, ...end, taskId: `${SECRET}-another` };
  }

  function known({ taskId }: Exchange): ServerTask | undefined {
    const task = tasks.get(taskId ?? "");
    return task === undefined || task.gone ? undefined : task;
  }

  function unknown({ taskId }: Exchange): ServerWord {
    const task = tasks.get(taskId ?? "");
    if (task !== undefined) task.saidGone += 1;
    return { error: { code: INVALID, message: "Unknown task" } };
  }

  function forget(task: ServerTask): void {
    task.gone = true;
    world.trace.note(`task ${task.spec.n} is forgotten by the server`);
  }

  const server: SimServer = {
    index: spec.index,
    spec,
    tasks,
    push,
    downUntil: 0,
    refusesUntil: 0,
    answer,
    executed,
    restart({ forgets, downMs }) {
      world.trace.note(`server ${spec.index} restarts${forgets ? ", and forgets" : ""}`);
      server.downUntil = Math.max(server.downUntil, time.now + downMs);
      push.cutAll();
      if (forgets) for (const task of tasks.values()) forget(task);
    },
  };
  return server;
}

const schema = { type: "object" };
const TOOLS: JsonObject[] = [
  { name: "work", inputSchema: schema },
  { name: "safe", inputSchema: schema, annotations: { idempotentHint: true } },
  { name: "reading", inputSchema: schema, annotations: { readOnlyHint: true } },
];

function complete(more: JsonObject): ServerWord {
  return { result: { resultType: "complete", ...more, _meta: META } };
}
