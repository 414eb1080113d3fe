/** Owns which question is meant by what the page was shown: a key, which may have been changed on the way, and a version. */
import type { TaskHandle } from "../client/taskHandle.js";
import { shownText } from "./shownText.js";
import type { AnswerBody } from "./wire.js";

/** What the page says of a question. */
export type ShownQuestion = Pick<AnswerBody, "key" | "version">;

type Answer = TaskHandle["answers"][number];

/** The server's own key of the open question; of another version under the key where there is none of this one. */
export function openKey(handle: TaskHandle, shown: ShownQuestion): string | undefined {
  const open = underKey(handle, handle.pendingInputs, shown);
  return (open.find(({ version }) => version === shown.version) ?? open[0])?.key;
}

/** The answer that stands for this very question. */
export function standingAnswer(handle: TaskHandle, shown: ShownQuestion): Answer | undefined {
  return underKey(handle, handle.answers, shown).findLast(({ version }) => version === shown.version);
}

/** Whether another question is open under the key, or was answered. */
export function isAnother(handle: TaskHandle, shown: ShownQuestion): boolean {
  return [handle.pendingInputs, handle.answers].some((all) =>
    underKey<ShownQuestion>(handle, all, shown).some(({ version }) => version !== shown.version),
  );
}

/** The key as it is comes first; then the one that was shown without the task id. */
function underKey<Question extends ShownQuestion>(
  { taskId }: TaskHandle,
  all: readonly Question[],
  { key: shownKey }: ShownQuestion,
): Question[] {
  const exact = all.filter(({ key }) => key === shownKey);
  return exact.length > 0 ? exact : all.filter(({ key }) => shownText(key, taskId) === shownKey);
}
