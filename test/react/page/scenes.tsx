/** Owns the small pages that the tests look at, each with the components as a host would use them. */
import { useState, type ReactElement } from "react";
import type { JsonObject } from "../../../src/internal/json.js";
import {
  ApprovalCard,
  ApprovalInbox,
  TaskCard,
  TasksProvider,
  useApprovals,
  useTask,
  useTasks,
  useTasksState,
  type Approval,
  type Labels,
  type TasksStore,
} from "../../../src/react/index.js";

export interface SceneOptions {
  readonly scene: "card" | "cards" | "inbox" | "tasks" | "task" | "hooks" | "url";
  /** The handler's URL: the provider makes its own store. */
  readonly url?: string;
  /** Who asks, for the host's `authorize`. */
  readonly user?: string;
  readonly host?: "samples" | "fails" | "hangs";
  readonly german?: boolean;
  readonly keepClosedMs?: number;
}

const german: Partial<Labels> = {
  accept: "Annehmen",
  decline: "Ablehnen",
  form: { required: "Bitte ausfüllen" },
};

const host = {
  samples: async (): Promise<JsonObject> => ({
    role: "assistant",
    content: { type: "text", text: "A poem" },
    model: "house-model",
  }),
  fails: async (): Promise<JsonObject> => {
    throw new Error("secret detail");
  },
  hangs: (_params: JsonObject, signal: AbortSignal): Promise<JsonObject> =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        document.body.dataset["aborted"] = "true";
        reject(signal.reason as Error);
      });
    }),
};

export function Scene(
  props: SceneOptions & { readonly store: TasksStore; readonly count: (name: string) => void },
): ReactElement {
  const { scene, store, url, user, host: hostKind, german: isGerman } = props;
  const shared = {
    ...(isGerman === true ? { labels: german } : {}),
    ...(hostKind === undefined
      ? {}
      : {
          onSample: host[hostKind],
          onRoots: async (): Promise<JsonObject> => ({ roots: [{ uri: "file:///srv/desk", name: "Desk" }] }),
        }),
  };
  const inside = <Inside {...props} scene={scene} />;
  return url === undefined ? (
    <TasksProvider store={store} {...shared}>
      {inside}
    </TasksProvider>
  ) : (
    <TasksProvider
      url={url}
      headers={{ "x-who": "me", ...(user === undefined ? {} : { "x-user": user }) }}
      {...shared}
    >
      {inside}
    </TasksProvider>
  );
}

function Inside(props: SceneOptions & { readonly count: (name: string) => void }): ReactElement {
  switch (props.scene) {
    case "card":
      return <FirstCard />;
    case "cards":
      return <Cards />;
    case "inbox":
      return <ApprovalInbox keepClosedMs={props.keepClosedMs} />;
    case "tasks":
      return <Tasks />;
    case "task":
      return <TaskCard id="t1" headingLevel={2} />;
    case "hooks":
      return <Hooks count={props.count} />;
    case "url":
      return <Connection />;
  }
}

/** One card that stays, whatever becomes of its question: as in a conversation. */
function FirstCard(): ReactElement | null {
  const [approval] = useApprovals();
  const [kept, setKept] = useState<Approval | undefined>(approval);
  if (approval !== undefined && kept === undefined) setKept(approval);
  const shown = approval ?? kept;
  return shown === undefined ? null : <ApprovalCard approval={shown} headingLevel={2} />;
}

function Cards(): ReactElement {
  return (
    <>
      {useApprovals().map((approval) => (
        <ApprovalCard
          key={approval.task.id + approval.input.key + approval.input.version}
          approval={approval}
          headingLevel={2}
        />
      ))}
    </>
  );
}

function Tasks(): ReactElement {
  return (
    <>
      {useTasks().map((task) => (
        <TaskCard key={task.id} task={task} headingLevel={2} />
      ))}
    </>
  );
}

function Hooks({ count }: { readonly count: (name: string) => void }): ReactElement {
  return (
    <>
      <StateProbe count={count} />
      <ListProbe count={count} />
      <PredicateProbe count={count} />
      <OneProbe count={count} />
    </>
  );
}

type ProbeProps = { readonly count: (name: string) => void };

function StateProbe({ count }: ProbeProps): ReactElement {
  count("state");
  return <p id="state">{useTasksState().connection}</p>;
}

function ListProbe({ count }: ProbeProps): ReactElement {
  count("list");
  const tasks = useTasks({ server: "ci", state: "live", context: { chat: 1 } });
  const approvals = useApprovals({ server: "ci" });
  return (
    <p id="list">
      {tasks.map((task) => task.id).join(" ")} / {approvals.map(({ input }) => input.key).join(" ")}
    </p>
  );
}

function PredicateProbe({ count }: ProbeProps): ReactElement {
  count("predicate");
  // A new function and a new object in each render.
  const tasks = useTasks({ context: (context) => context !== undefined });
  return <p id="predicate">{tasks.map((task) => task.id).join(" ")}</p>;
}

function OneProbe({ count }: ProbeProps): ReactElement {
  count("one");
  const { task, result, loading, missing, error } = useTask("t1");
  return (
    <p id="one">
      {JSON.stringify({ status: task?.status, result, loading, missing, failed: error !== undefined })}
    </p>
  );
}

function Connection(): ReactElement {
  const { connection, loaded } = useTasksState();
  return (
    <>
      <p id="connection">{`${connection} ${loaded}`}</p>
      <Tasks />
    </>
  );
}
