/** Owns which stored calls a host asks for. */
import { answerableQuestions } from "../engine/inputBroker.js";
import type { TaskDriver } from "../engine/taskDriver.js";
import { canonicalJson, whyNotJson, type JsonValue } from "../internal/json.js";
import { refuseUnknown } from "../internal/options.js";
import { isOver } from "../task/transition.js";
import { mustBeObject, wrong } from "./options.js";

/** All conditions that are given must hold. */
export interface TaskFilter {
  readonly server?: string;
  readonly tool?: string;
  /** `live`: not over. `settled`: over. `input`: waits for an answer of a person. */
  readonly state?: "live" | "settled" | "input";
  /** Equal as JSON, or a function that decides. */
  readonly context?: JsonValue | ((context: JsonValue | undefined) => boolean);
}

const STATES: readonly unknown[] = [undefined, "live", "settled", "input"];

/** Throws `TypeError`: a filter that nobody reads would answer everything. */
export function checkFilter(filter: TaskFilter): void {
  mustBeObject("filter", filter);
  refuseUnknown("filter", filter, ["server", "tool", "state", "context"]);
  if (!STATES.includes(filter.state)) throw wrong("state", filter.state, '"live", "settled" or "input"');
  const { context } = filter;
  if (context === undefined || typeof context === "function") return;
  // What refers to itself would be compared for ever; what JSON cannot carry equals nothing that is kept.
  const reason = whyNotJson(context, "context");
  if (reason !== undefined) throw new TypeError(`context: expected JSON or a function, but ${reason}`);
}

export function matches(driver: TaskDriver, filter: TaskFilter): boolean {
  const { record } = driver;
  if (filter.server !== undefined && record.server !== filter.server) return false;
  if (filter.tool !== undefined && record.tool !== filter.tool) return false;
  return matchesState(driver, filter.state) && matchesContext(record.context, filter.context);
}

function matchesState({ record }: TaskDriver, state: TaskFilter["state"]): boolean {
  switch (state) {
    case undefined:
      return true;
    case "live":
      return !isOver(record);
    case "settled":
      return isOver(record);
    case "input":
      return answerableQuestions(record).length > 0;
  }
}

function matchesContext(context: JsonValue | undefined, wanted: TaskFilter["context"]): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === "function") return wanted(context);
  return canonicalJson(context ?? null) === canonicalJson(wanted);
}
