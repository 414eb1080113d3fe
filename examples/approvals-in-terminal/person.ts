/** Owns where answers come from: a person at a terminal, or a script where there is none. */
import { createInterface } from "node:readline/promises";

/** Somebody who can be asked, one question at a time. */
export interface Person {
  say(line: string): void;
  /** Rejects with the signal's reason when it aborts first. */
  ask(question: string, signal: AbortSignal): Promise<string>;
  close(): void;
}

export function personAtTerminal(): Person {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl+C ends the wait, not the tasks: they live on at the server and in the store.
  terminal.once("SIGINT", () => {
    console.log();
    process.exit(130);
  });
  return {
    say: (line) => console.log(line),
    ask: (question, signal) => terminal.question(`${question} `, { signal }),
    close: () => terminal.close(),
  };
}

/** Answers by the first words of the question that fit; several answers for one question are used in turn. */
export function scriptedPerson(answers: Readonly<Record<string, readonly string[]>>): Person {
  const left = new Map(Object.entries(answers).map(([words, given]) => [words, [...given]]));
  return {
    say: (line) => console.log(line),
    async ask(question, signal) {
      signal.throwIfAborted();
      const key = [...left.keys()].find((words) => question.includes(words));
      const answer = key === undefined ? undefined : left.get(key)?.shift();
      if (answer === undefined) throw new Error(`The script has no answer to: ${question}`);
      console.log(`${question} ${answer}`);
      return answer;
    },
    close() {
      // Nothing is open.
    },
  };
}
