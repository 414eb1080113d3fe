/** Owns how tests find a question's card and put something into it. It asserts nothing. */
import type { Locator, Page } from "playwright-core";
import type { TestInputRequest, TestTask } from "../../src/testing/index.js";
import type { Stage } from "./stage.js";

type Json = NonNullable<TestInputRequest["params"]>;

export function form(
  message: string,
  properties: Json = {},
  required: readonly string[] = [],
): TestInputRequest {
  return {
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
  };
}

export function visit(message: string, url: string): TestInputRequest {
  return { method: "elicitation/create", params: { mode: "url", message, url, elicitationId: "e" } };
}

/** The task cards of the call, and with them its questions: they stay found when they have closed. */
export function tasksOf(page: Page, callId: string): Locator {
  return page.locator(`.tasks[data-message="${callId.replace(/\.\d+$/, "")}"]`);
}

/** The n-th question of the call. */
export function card(page: Page, callId: string, n = 0): Locator {
  return tasksOf(page, callId).locator(".taskrail-approval").nth(n);
}

export function button(within: Locator, name: string): Locator {
  return within.getByRole("button", { name, exact: true });
}

/** The server's task of the call: the newest that asks or asked this. */
export async function answersOf(stage: Stage, message: string): Promise<TestTask["answers"]> {
  const tasks = await stage.tasks();
  const mine = tasks.filter((task) =>
    JSON.stringify(task.arguments).includes(JSON.stringify(message).slice(1, -1)),
  );
  return mine.flatMap(({ answers }) => answers);
}
