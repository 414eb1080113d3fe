/**
 * Owns that a task is looked at by one call only, where a server answered several calls with one task: the others
 * hear what that one saw. It sends nothing and plans nothing.
 */
import type { Clock } from "../internal/clock.js";
import type { TaskSnapshot } from "../protocol/index.js";
import type { SnapshotSource } from "./snapshotTaking.js";

/** The tasks of one server, by task id. */
export interface SharedTasks {
  /** `hear` is called with what other calls saw of the task. */
  join(taskId: string, hear: (snapshot: TaskSnapshot, source: SnapshotSource) => void): TaskShare;
}

/** One call's part in a task. */
export interface TaskShare {
  /** False while another call looks at the task, or did so less than the interval ago. */
  mayPoll(intervalMs: number): boolean;
  /** A poll of this call ended. */
  looked(): void;
  /** Passes on what was seen. */
  tell(snapshot: TaskSnapshot, source: SnapshotSource): void;
  /** The next one looks at the task. */
  leave(): void;
}

interface Member {
  readonly hear: (snapshot: TaskSnapshot, source: SnapshotSource) => void;
}

interface Group {
  /** The first one looks. */
  readonly members: Set<Member>;
  last: { readonly by: Member; readonly at: number } | undefined;
}

export function createSharedTasks(clock: Clock): SharedTasks {
  const groups = new Map<string, Group>();
  return {
    join(taskId, hear) {
      const group = groups.get(taskId) ?? { members: new Set(), last: undefined };
      const me: Member = { hear };
      groups.set(taskId, group);
      group.members.add(me);
      return {
        mayPoll(intervalMs) {
          const { last, members } = group;
          if (members.values().next().value !== me) return false;
          return last === undefined || last.by === me || clock.monotonic() - last.at >= intervalMs;
        },
        looked() {
          group.last = { by: me, at: clock.monotonic() };
        },
        tell(snapshot, source) {
          for (const member of [...group.members]) if (member !== me) member.hear(snapshot, source);
        },
        leave() {
          group.members.delete(me);
          if (group.members.size === 0 && groups.get(taskId) === group) groups.delete(taskId);
        },
      };
    },
  };
}
