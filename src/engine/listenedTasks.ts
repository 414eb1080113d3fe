/** Owns which tasks of a server are followed, by whom, and which of them a stream covers. It opens no stream. */
import type { TaskSnapshot } from "../protocol/index.js";

/** One call's view of the push of its task. None of the functions may throw. */
export interface PushMember {
  /** The server pushed the task. Of several calls with one task, the first to join hears it. */
  take(snapshot: TaskSnapshot): void;
  /** A stream was acknowledged for the task: what happened before is not told, so it is to be looked at once. */
  covered(): void;
  /** The stream has shown that it is alive. */
  proven(): void;
  /** No stream tells of the task any more. */
  lost(): void;
}

/** A task that at least one call follows. */
export interface ListenedTask {
  readonly members: Set<PushMember>;
  /** It is worth a stream. */
  wanted: boolean;
  /** A refusal may have been about it; until a poll says that it lives. */
  doubtful: boolean;
  /** Since when a stream covers it, on the monotonic clock. */
  coveredSince: number | undefined;
}

/** The followed tasks of one server, by task id. */
export interface ListenedTasks {
  join(taskId: string, member: PushMember): ListenedTask;
  /** Answers true when the last one who followed the task has left. */
  leave(taskId: string, member: PushMember): boolean;
  get(taskId: string): ListenedTask | undefined;
  /** True while any task is worth a stream. */
  readonly anyWanted: boolean;
  /** What a stream is to be opened for. */
  listenable(): string[];
  cover(taskIds: ReadonlySet<string>, atMono: number): void;
  prove(taskIds: ReadonlySet<string>): void;
  /** Only these are covered from now on. */
  uncoverBut(taskIds: ReadonlySet<string>): void;
  /** A refusal may have been about any of these, unless a stream covers it. */
  doubt(taskIds: ReadonlySet<string>): void;
}

export function createListenedTasks(): ListenedTasks {
  const tasks = new Map<string, ListenedTask>();

  return {
    join(taskId, member) {
      const task = tasks.get(taskId) ?? newTask();
      tasks.set(taskId, task);
      task.members.add(member);
      return task;
    },
    leave(taskId, member) {
      const members = tasks.get(taskId)?.members;
      if (members?.delete(member) !== true || members.size > 0) return false;
      return tasks.delete(taskId);
    },
    get: (taskId) => tasks.get(taskId),
    get anyWanted() {
      for (const { wanted } of tasks.values()) if (wanted) return true;
      return false;
    },
    listenable: () =>
      [...tasks].filter(([, task]) => task.wanted && !task.doubtful).map(([taskId]) => taskId),
    cover(taskIds, atMono) {
      for (const taskId of taskIds) {
        const task = tasks.get(taskId);
        if (task === undefined) continue;
        task.coveredSince = atMono;
        for (const member of [...task.members]) member.covered();
      }
    },
    prove(taskIds) {
      for (const taskId of taskIds)
        for (const member of [...(tasks.get(taskId)?.members ?? [])]) member.proven();
    },
    uncoverBut(taskIds) {
      for (const [taskId, task] of [...tasks]) {
        if (task.coveredSince === undefined || taskIds.has(taskId)) continue;
        task.coveredSince = undefined;
        for (const member of [...task.members]) member.lost();
      }
    },
    doubt(taskIds) {
      for (const taskId of taskIds) {
        const task = tasks.get(taskId);
        if (task !== undefined && task.coveredSince === undefined) task.doubtful = true;
      }
    },
  };
}

function newTask(): ListenedTask {
  return { members: new Set(), wanted: false, doubtful: false, coveredSince: undefined };
}
