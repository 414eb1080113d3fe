/** Owns the options of the approvals handler: what they mean, their defaults, and what is wrong with them. */
import type { TaskClient } from "../client/taskClient.js";
import { systemClock, type Clock } from "../internal/clock.js";
import { isObject, type JsonValue } from "../internal/json.js";
import { optionalFunction, refuseUnknown } from "../internal/options.js";
import { checkClock } from "./clockOption.js";

/** Who asks, as the host knows them. */
export interface Principal {
  /** Whose tasks they may see and answer: the `scope` of a `TaskClient`. Take the whole principal into it (tenant and user). */
  readonly scope: string;
  /** Who answers, for the record: a user name or an address, up to 256 characters. Others of the same scope see it. */
  readonly actor: string;
}

/** What `authorize` may answer: a principal; a response, which is sent as it is; or nothing, which refuses (403). */
export type Authorization = Principal | Response | undefined | null | false;

/** Options of {@link approvalsHandler}. All times in milliseconds. */
export interface ApprovalsHandlerOptions {
  /**
   * Says who sent the request, or refuses. Called for every request, and again while a stream is open (`reauthorizeMs`).
   * There is no default that lets anybody in. Look at its headers, or read the body of a clone. What it throws is answered as 500 and told to `onError`.
   */
  readonly authorize: (request: Request) => Authorization | Promise<Authorization>;
  /** What the page sees of a call's `context`. Default: nothing. Where it throws, nothing. */
  readonly context?: ((context: JsonValue) => JsonValue | undefined) | undefined;
  /** Other origins that may use the handler (`https://chat.example`). The CORS headers for them are the host's to send. */
  readonly origins?: readonly string[] | undefined;
  /** Larger bodies are refused. Default 262 144. */
  readonly maxBodyBytes?: number | undefined;
  /** How often a stream shows that it lives. Default 15 000. */
  readonly keepAliveMs?: number | undefined;
  /** After so long a stream ends; the page comes back, and is authorised again. Default 600 000. */
  readonly maxStreamMs?: number | undefined;
  /**
   * While a stream is open: how often `authorize` is asked again, with the stream's own request. Anything but a
   * principal of the same scope ends the stream, also no answer until it is asked the next time. Default 60 000.
   */
  readonly reauthorizeMs?: number | undefined;
  /**
   * While a stream is open: how often the store is read for what other processes did. Longer by itself where reading
   * would take more than a twentieth of the time. Default 2000.
   */
  readonly refreshMs?: number | undefined;
  /** The most calls that a list holds: those with open questions first, then the newest. Default 200. */
  readonly maxTasks?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Hears of what went wrong in the host's own functions or its store. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** One client for one scope, or a function that finds the client of a scope. */
export type TasksSource =
  TaskClient | ((scope: string) => TaskClient | undefined | Promise<TaskClient | undefined>);

/** The options with their defaults. */
export interface HandlerSettings {
  readonly authorize: ApprovalsHandlerOptions["authorize"];
  readonly context: ((context: JsonValue) => JsonValue | undefined) | undefined;
  readonly origins: ReadonlySet<string>;
  readonly maxBodyBytes: number;
  readonly keepAliveMs: number;
  readonly maxStreamMs: number;
  readonly reauthorizeMs: number;
  readonly refreshMs: number;
  readonly maxTasks: number;
  readonly clock: Clock;
  readonly onError: ((error: unknown) => void) | undefined;
}

const KNOWN = [
  "authorize",
  "context",
  "origins",
  "maxBodyBytes",
  "keepAliveMs",
  "maxStreamMs",
  "reauthorizeMs",
  "refreshMs",
  "maxTasks",
  "clock",
  "onError",
];

/** Throws `TypeError` that names what is wrong. */
export function handlerSettings(given: ApprovalsHandlerOptions): HandlerSettings {
  if (!isObject(given)) throw new TypeError("options: expected an object with authorize");
  refuseUnknown("approvalsHandler", given, KNOWN);
  if (typeof given.authorize !== "function")
    throw new TypeError("authorize: expected a function; without one nobody may be let in");
  return {
    authorize: given.authorize,
    context: optionalFunction("context", given.context),
    origins: originsOf(given.origins),
    maxBodyBytes: positive("maxBodyBytes", given.maxBodyBytes, 262_144),
    keepAliveMs: positive("keepAliveMs", given.keepAliveMs, 15_000),
    maxStreamMs: positive("maxStreamMs", given.maxStreamMs, 600_000),
    reauthorizeMs: positive("reauthorizeMs", given.reauthorizeMs, 60_000),
    refreshMs: positive("refreshMs", given.refreshMs, 2000),
    maxTasks: Math.ceil(positive("maxTasks", given.maxTasks, 200)),
    clock: checkClock(given.clock) ?? systemClock,
    onError: optionalFunction("onError", given.onError),
  };
}

/** Throws `TypeError`. */
export function checkSource(tasks: TasksSource): void {
  if (typeof tasks === "function" || isClient(tasks)) return;
  throw new TypeError("tasks: expected a TaskClient, or a function that answers the TaskClient of a scope");
}

/** Structural: the host may have another copy of this package. */
export function isClient(value: unknown): value is TaskClient {
  if (!isObject(value)) return false;
  return (
    typeof value["scope"] === "string" &&
    ["tasks", "task", "on"].every((name) => typeof value[name] === "function")
  );
}

function originsOf(given: readonly string[] = []): ReadonlySet<string> {
  if (!Array.isArray(given)) throw new TypeError("origins: expected an array of origins");
  for (const origin of given as unknown[]) {
    // Scheme and host, as browsers write them; also of shells (capacitor://localhost).
    if (typeof origin !== "string" || !/^[a-z][a-z0-9+.-]*:\/\/[^/\s*?#]+$/.test(origin))
      throw new TypeError(
        'origins: expected origins such as "https://chat.example", without a path or wildcard',
      );
  }
  return new Set(given);
}

function positive(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
  throw new TypeError(`${name}: expected a positive number`);
}
