/** Owns which calls a list holds, and in which order. */
import type { TaskClient } from "../client/taskClient.js";
import type { Clock } from "../internal/clock.js";
import { inOrder } from "./taskOrder.js";
import { viewOf, type ViewOptions } from "./views.js";
import type { SnapshotEvent } from "./wire.js";

/** Reads the client's calls: all that it keeps, or the first `maxTasks` of them. Rejects as `client.tasks` does. */
export async function snapshotOf(
  client: TaskClient,
  { clock, maxTasks, views }: { clock: Clock; maxTasks: number; views: ViewOptions },
): Promise<SnapshotEvent> {
  const handles = await client.tasks();
  const ordered = handles
    .map((handle) => ({
      handle,
      id: handle.id,
      createdAt: handle.createdAt.toISOString(),
      inputs: handle.pendingInputs,
    }))
    .sort(inOrder);
  return {
    now: new Date(clock.now()).toISOString(),
    tasks: ordered.slice(0, maxTasks).map(({ handle }) => viewOf(handle, views)),
    truncated: ordered.length > maxTasks,
  };
}
