/** Owns who is signed in, and the store of their tasks. */
import type { JsonObject } from "mcp-taskrail";
import { createTasksStore, type TasksStore } from "mcp-taskrail/approvals";
import { TasksProvider } from "mcp-taskrail/react";
import { useEffect, useState, type JSX } from "react";
import type { SessionBody } from "../messages.js";
import { askModel, getSession, signIn } from "./api.js";
import { Desk } from "./Desk.js";
import { SignIn } from "./SignIn.js";

/** What the desk lets servers know of its folders. */
const giveRoots = (): Promise<JsonObject> =>
  Promise.resolve({ roots: [{ uri: "file:///srv/desk", name: "The desk's own folder" }] });
const RETRY_MS = 1000;

export function App(): JSX.Element {
  const [session, setSession] = useState<SessionBody>();
  const [store, setStore] = useState<TasksStore>();
  const actor = session?.actor ?? undefined;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const ask = (): void => {
      getSession().then(
        (answer) => (over ? undefined : setSession(answer)),
        () => (timer = over ? undefined : setTimeout(ask, RETRY_MS)),
      );
    };
    ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, []);

  // Another person's tasks come from another store: nothing of the first one's is shown for a moment.
  useEffect(() => {
    if (actor === undefined) return undefined;
    const mine = createTasksStore("/api/tasks");
    setStore(mine);
    return () => {
      mine.close();
      setStore(undefined);
    };
  }, [actor]);

  function become(name: string | null): void {
    signIn(name).then(setSession, () => undefined);
  }

  if (session === undefined) return <p className="opening">Opening the desk…</p>;
  if (actor === undefined) return <SignIn people={session.people} onChoose={become} />;
  if (store === undefined) return <></>;
  return (
    <TasksProvider store={store} onSample={askModel} onRoots={giveRoots}>
      <Desk actor={actor} store={store} onLeave={() => become(null)} />
    </TasksProvider>
  );
}
