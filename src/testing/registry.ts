/** Owns the set of tools a server has: one shape for all kinds, and their listing in pages. No state. */
import type { JsonObject } from "../internal/json.js";
import { schema, text } from "./toolBasics.js";
import type { Finish } from "./taskView.js";
import type { CallTool, RunTool, TaskTraits, TestTool } from "./types.js";

/** A tool of any kind, as the server uses it. */
export interface RegisteredTool {
  readonly name: string;
  readonly listing: JsonObject;
  readonly inputSchema: JsonObject;
  readonly taskSupport: "never" | "optional" | "required";
  readonly call: CallTool["call"] | undefined;
  readonly run: RunTool["run"] | undefined;
  readonly traits: TaskTraits;
}

export interface Registry {
  get(name: string): RegisteredTool | undefined;
  finish(name: string): Finish;
  /** One page and the cursor of the next; undefined for a cursor that was never given out. */
  page(cursor: unknown): { tools: JsonObject[]; nextCursor?: string } | undefined;
}

/** Later tools replace earlier ones of the same name. */
export function registry(tools: readonly TestTool[], pageSize: number): Registry {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const registered = new Map([...byName].map(([name, tool]) => [name, register(tool)]));
  const listings = [...registered.values()].map(({ listing }) => listing);
  return {
    get: (name) => registered.get(name),
    finish: (name) => {
      const tool = byName.get(name);
      return (tool !== undefined && "finish" in tool ? tool.finish : undefined) ?? done;
    },
    page(cursor) {
      const start =
        cursor === undefined
          ? 0
          : Number(/^page:(\d+)$/.exec(typeof cursor === "string" ? cursor : "")?.[1] ?? Number.NaN);
      if (Number.isNaN(start) || start > listings.length) return undefined;
      const end = start + pageSize;
      return {
        tools: listings.slice(start, end),
        ...(end < listings.length ? { nextCursor: `page:${end}` } : {}),
      };
    },
  };
}

function register(tool: TestTool): RegisteredTool {
  const inputSchema = tool.inputSchema ?? schema({});
  const { steps, run } = tool;
  const own = tool.call === undefined ? "required" : (tool.taskSupport ?? "never");
  return {
    name: tool.name,
    inputSchema,
    listing: {
      name: tool.name,
      ...(tool.title === undefined ? {} : { title: tool.title }),
      ...(tool.description === undefined ? {} : { description: tool.description }),
      inputSchema,
      ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
      ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
      ...tool.listing,
    },
    taskSupport: steps === undefined ? own : (tool.taskSupport ?? "required"),
    call: steps === undefined ? tool.call : () => ({ ...traitsOf(tool), kind: "task", steps }),
    run,
    traits: tool.call === undefined ? traitsOf(tool) : {},
  };
}

function traitsOf({ ttlMs, pollIntervalMs, intervals, ttls, cancel, cancelLagMs }: TaskTraits): TaskTraits {
  return { ttlMs, pollIntervalMs, intervals, ttls, cancel, cancelLagMs };
}

const done: Finish = (_args, answers) => ({ result: text("done", { answers }) });
