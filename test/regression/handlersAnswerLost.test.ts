/** What a person had answered through `onInputRequest` was dropped when the store refused it for a moment. */
import { expect, test } from "vitest";
import {
  ack,
  asks,
  done,
  form,
  handle,
  rig,
  startTask,
  testStore,
  text,
  virtualClock,
  yes,
} from "../engine/support.js";

test("it is stored and sent once the store is back, and the person is not asked again", async () => {
  const clock = virtualClock();
  const store = testStore(clock);
  let asked = 0;
  const get = (): ReturnType<typeof done> =>
    run.connection.requestsOf("tasks/update").length > 0 ? done() : asks({ k: form() });
  const run = await rig(
    { "tools/call": handle(), "tasks/get": get, "tasks/update": ack },
    {
      clock,
      store,
      onInputRequest() {
        asked += 1;
        return yes;
      },
    },
  );
  store.refuses = (value) => value.includes('"answered"');
  const task = await startTask(run);
  await clock.advance(5000);
  expect(asked).toBe(1);
  expect(run.connection.requestsOf("tasks/update")).toEqual([]);
  store.refuses = () => false;
  expect(await run.within(task.result(), 60_000)).toEqual(text("done"));
  expect(asked).toBe(1);
});
