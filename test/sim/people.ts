/** Owns the people who answer: soon, late, never, wrongly, twice, from another process. They know nothing of tasks. */
import type {
  AnswerWindow,
  InputRequestHandler,
  TaskClient,
  TaskInputRequest,
  UnansweredPolicy,
} from "../../src/index.js";
import type { JsonObject } from "../../src/internal/json.js";
import { never } from "./disk.js";
import type { ProcessView } from "./observation.js";
import type { HostProcess } from "./hostProcess.js";
import { editionOf, SECRET } from "./serverTask.js";
import type { World } from "./world.js";

/** What is known of a question when it is answered. */
type Answerable = Pick<TaskInputRequest, "id" | "key" | "kind"> & Partial<TaskInputRequest>;

export interface People {
  handlerOf(process: ProcessView, client: () => TaskClient): InputRequestHandler;
  /** What the host says of questions that nobody answers. */
  policyOf(process: ProcessView): UnansweredPolicy;
  /** Answers everything that waits, from this process. */
  clearDesk(process: HostProcess): void;
  /** Who can be found to answer in place of the one who was asked. */
  others: () => readonly HostProcess[];
}

export function createPeople(world: World): People {
  const random = world.random("people");
  const windows = world.random("windows");
  const versions = world.random("versions");
  const hasWindows = windows.chance(0.25);
  let answers = 0;

  function handlerOf(process: ProcessView, client: () => TaskClient): InputRequestHandler {
    return async (request) => {
      if (!world.touch(process, "question")) return never();
      const { id, key } = request;
      world.count("question shown");
      world.observe({ kind: "shown", process, request });
      const hide = (): void => world.observe({ kind: "hidden", process, id, key });
      if (request.signal.aborted) return void hide();
      if (world.fault("handlerThrows")) {
        hide();
        throw new Error("the window is broken");
      }
      if (world.fault("answerElsewhere", 2)) planElsewhere(process, request);
      if (world.fault("answerDeferred", 2)) return void hide();
      const waitMs = world.fault("answerNever")
        ? Infinity
        : random.int(0, world.fault("answerLate") ? 900_000 : 15_000);
      const isAnswered = await waited(process, waitMs, request.signal);
      hide();
      if (!isAnswered && process.alive && versions.chance(0.5)) {
        // Whoever has an old page open answers what is there no more.
        world.time.after(versions.int(0, 3000), () => respond(client(), process, request), process);
      }
      if (!isAnswered || !world.touch(process, "answer of a person"))
        return process.alive ? undefined : never();
      if (world.fault("answerWrong")) return wrongAnswer(request);
      if (world.fault("answerTwice", 2)) respond(client(), process, request);
      return give(process, request, "handler");
    };
  }

  function policyOf(process: ProcessView): UnansweredPolicy {
    if (!hasWindows) return "keep-open";
    return (request) => {
      const { id, key, kind } = request;
      if (windows.chance(0.3)) return "keep-open";
      const afterMs = windows.pick([0, 2000, 20_000, 300_000]);
      const isElicitation = kind === "elicitation-form" || kind === "elicitation-url";
      if (!isElicitation) return { afterMs };
      const response = windows.pick([undefined, { action: "decline" }]);
      // Whatever the clocks say, a process that shows it leaves people a minute, or all there is.
      const notBefore = world.time.now + Math.min(afterMs, 60_000);
      const said = response ?? { action: "cancel" };
      world.observe({
        kind: "gave",
        process,
        id,
        key,
        response: said,
        notBefore,
        how: "policy",
        edition: editionOf(request),
      });
      return { afterMs, ...(response && { response }) } satisfies AnswerWindow;
    };
  }

  /** True when the person has answered, false when the question was withdrawn. */
  function waited(process: ProcessView, waitMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = world.time.after(waitMs, () => done(true), process);
      const onAbort = (): void => done(false);
      const done = (isAnswered: boolean): void => {
        stop();
        signal.removeEventListener("abort", onAbort);
        resolve(isAnswered);
      };
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  function planElsewhere(process: ProcessView, request: TaskInputRequest): void {
    world.time.after(random.int(100, 20_000), () => {
      const able = people.others().filter(({ view }) => view.scope === process.scope && view.alive);
      const other = able.length === 0 ? undefined : random.pick(able);
      if (other !== undefined) inStepOf(other, () => respond(other.client, other.view, request));
    });
  }

  /** A person at this process answers a question that it may not have shown. */
  function respond(client: TaskClient, process: ProcessView, request: Answerable): void {
    // What the server refused is answered by who has not read it again.
    const names = request.version !== undefined && versions.chance(0.5);
    // A host that has closed its client has closed its page as well.
    if (process.closing) return;
    const response = give(process, request, "respond", names);
    const from = names ? { version: request.version, by: process.name } : {};
    client.respond(request.id, request.key, response, from).then(
      () => world.count("answered by respond"),
      (error: Error) => {
        if (error.name === "InputAlreadyAnsweredError") world.count("answered already");
        world.observe({ kind: "rejected", process, what: "respond()", error });
      },
    );
  }

  /** `isBound`: the answer is for what was seen, whatever the server asks by then. */
  function give(
    process: ProcessView,
    request: Answerable,
    how: "handler" | "respond",
    isBound = true,
  ): JsonObject {
    const response = answerTo(request);
    const edition = isBound ? { edition: editionOf(request) } : {};
    world.observe({ kind: "gave", process, id: request.id, key: request.key, response, how, ...edition });
    return response;
  }

  function answerTo({ kind }: Answerable): JsonObject {
    answers += 1;
    const words = `${SECRET}-answer-${answers}`;
    switch (kind) {
      case "elicitation-form":
        return random.chance(0.2)
          ? { action: random.pick(["decline", "cancel"]) }
          : { action: "accept", content: { words, ok: random.chance(0.5) } };
      case "elicitation-url":
        return { action: random.pick(["accept", "decline"]) };
      case "sampling":
        return { role: "assistant", content: { type: "text", text: words }, model: "sim" };
      case "roots":
        return { roots: [{ uri: `file:///${words}` }] };
    }
  }

  function wrongAnswer({ kind }: TaskInputRequest): JsonObject {
    world.count("answer refused as wrong");
    const content = { ok: `${SECRET}-wrong` };
    return kind === "elicitation-form" ? { action: "accept", content } : { nonsense: `${SECRET}-wrong` };
  }

  function inStepOf({ view }: HostProcess, run: () => void): void {
    world.time.after(0, run, view);
  }

  const people: People = {
    others: () => [],
    handlerOf,
    policyOf,
    clearDesk(process) {
      inStepOf(process, () => {
        void process.client.pendingInputs().then(
          (requests) => {
            for (const request of requests) respond(process.client, process.view, request);
          },
          () => undefined,
        );
        answerRefused(process);
      });
    },
  };
  return people;

  /** What the server refused waits for another answer, without being asked again. */
  function answerRefused(process: HostProcess): void {
    for (const record of world.disk.records.values()) {
      if (record.scope !== process.view.scope) continue;
      for (const question of record.questions) {
        if (question.state !== "refused" || question.params === undefined) continue;
        const kind = kindOf(question.method, question.params);
        const request = { id: record.id, key: question.key, kind } as Answerable;
        respond(process.client, process.view, request);
      }
    }
  }
}

function kindOf(method: string, params: JsonObject): TaskInputRequest["kind"] {
  if (method === "roots/list") return "roots";
  if (method === "sampling/createMessage") return "sampling";
  return params["mode"] === "url" ? "elicitation-url" : "elicitation-form";
}
