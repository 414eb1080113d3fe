/** Owns the planted bugs about questions and answers, and about the manners of the client. */
import { edit, one, type Mutant } from "./mutant.js";

export const QUESTION_MUTANTS: readonly Mutant[] = [
  {
    name: "ask a server that is down as if it were not",
    promise: 5,
    edits: [
      edit(
        "engine/serverLane.ts",
        "if (down === undefined && waitMs <= 0) return Promise.resolve(undefined);",
        "if (waitMs <= 0) return Promise.resolve(undefined);",
      ),
      edit(
        "engine/serverLane.ts",
        "if (probed === down || request.direct === true) return { release, probed };\n        release();",
        "return { release, probed };",
      ),
    ],
  },
  one(
    "as many requests at once as there are tasks",
    5,
    "engine/serverLane.ts",
    "const short = createLimiter(options.concurrency);",
    "const short = createLimiter(1000);",
  ),
  one(
    "probe a dead server no more rarely",
    5,
    "engine/serverLane.ts",
    "backoffMs(attempts, options.retry, options.random());\n    const delayMs = Math.max(ownMs, askedMs);",
    "backoffMs(1, options.retry, options.random());\n    const delayMs = Math.max(ownMs, askedMs);",
  ),
  one("leave the replaced stream open", 5, "engine/subscriptionHub.ts", "    old?.close();\n", ""),
  one(
    "listen on for nobody",
    5,
    "engine/subscriptionHub.ts",
    "if (tasks.leave(taskId, member) && !tasks.anyWanted && !stopped) closeAll();",
    "tasks.leave(taskId, member);",
  ),
  one(
    "withdraw a question without telling whoever shows it",
    7,
    "engine/inputBroker.ts",
    "entry?.controller.abort(reason);",
    "",
  ),
  one(
    "ignore the version of an answer",
    7,
    "engine/answering.ts",
    "version !== undefined && version !== versionOf(question);",
    'version !== undefined && version === versionOf(question) && version === "";',
  ),
  one(
    "one version for every question",
    7,
    "task/answers.ts",
    "return `${digest.slice(0, 22)}.${askedAtMs.toString(36)}`;",
    'void digest;\n  void askedAtMs;\n  return "1";',
  ),
  one(
    "hold answers back until all are given",
    8,
    "engine/charge.ts",
    "if (!sendingAnswers && unsentKeys(record.questions).length > 0) {",
    'if (!sendingAnswers && unsentKeys(record.questions).length > 0 && record.questions.every(({ state }) => state !== "open")) {',
  ),
  one(
    "never answer for people",
    9,
    "engine/inputBroker.ts",
    "entry.stopWindow = options.clock.setTimer(planned.leftMs, () => {",
    "entry.stopWindow = options.clock.setTimer(1e13 + planned.leftMs, () => {",
  ),
  one(
    "overtake a person whose answer is being stored",
    9,
    "engine/inputBroker.ts",
    "if (entry.answering || entry.controller.signal.aborted) return;\n      const { signal }",
    "if (entry.controller.signal.aborted) return;\n      const { signal }",
  ),
];
