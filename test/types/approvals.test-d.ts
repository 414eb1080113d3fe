/** Compiled, never run: a wrong public type of `mcp-taskrail/approvals` fails `npm run typecheck`. */
import { TaskClient } from "../../src/index.js";
import {
  approvalsHandler,
  approvalsOf,
  createTasksStore,
  filterTasks,
  type AnswerOutcome,
  type Approval,
  type ApprovalsHandler,
  type CancelOutcome,
  type InputView,
  type TaskDetailView,
  type TasksState,
  type TaskView,
} from "../../src/approvals/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** The type parameter is the test; the value is only there to be looked at. */
function same<_Holds extends true>(_value?: unknown): void {
  // Nothing to run.
}

const client = new TaskClient({ scope: "ada" });
const handler = approvalsHandler(client, { authorize: () => ({ scope: "ada", actor: "Ada" }) });
same<Equal<typeof handler, ApprovalsHandler>>(handler);
same<Equal<ReturnType<typeof handler>, Promise<Response>>>();

const clients = new Map<string, TaskClient>();
approvalsHandler((scope) => clients.get(scope), {
  async authorize(request) {
    if (request.headers.get("cookie") === null) return new Response(null, { status: 401 });
    return Math.PI > 3 ? { scope: "ada", actor: "Ada" } : undefined;
  },
  context: (context) => (typeof context === "string" ? context : undefined),
});

// @ts-expect-error There is no default that lets anybody in.
approvalsHandler(client, {});
// @ts-expect-error A principal has an actor.
approvalsHandler(client, { authorize: () => ({ scope: "ada" }) });
// @ts-expect-error "Yes" is no principal.
approvalsHandler(client, { authorize: () => true });
// @ts-expect-error No such option.
approvalsHandler(client, { authorize: () => undefined, cors: true });

export async function usage(): Promise<void> {
  const store = createTasksStore("/approvals", { headers: async () => ({ authorization: "Bearer x" }) });
  const stop: () => void = store.subscribe(() => undefined);
  stop();
  const state = store.getSnapshot();
  same<Equal<typeof state, TasksState>>();
  same<Equal<ReturnType<typeof filterTasks>, readonly TaskView[]>>(filterTasks(state, { state: "live" }));
  for (const approval of approvalsOf(state)) {
    same<Equal<typeof approval, Approval>>();
    same<Equal<typeof approval.input, InputView>>();
    if (approval.input.kind === "elicitation-url") same<Equal<typeof approval.input.url, string>>();
    // @ts-expect-error Only a URL has one.
    if (approval.input.kind === "roots") same(approval.input.url);
  }
  const answered = await store.answer("id", "key", { action: "accept" });
  same<Equal<typeof answered, AnswerOutcome>>(answered);
  const cancelled = await store.cancel("id");
  same<Equal<typeof cancelled, CancelOutcome>>(cancelled);
  const detail = await store.load("id");
  same<Equal<typeof detail, TaskDetailView>>(detail);
  // @ts-expect-error Not a number.
  createTasksStore(5);
}
