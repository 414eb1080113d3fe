/** A server that answered two calls with one task was polled twice per interval, and its question was put twice. */
import { expect, test } from "vitest";
import { ack, asks, done, form, gaps, handle, rig, startTask, state, yes } from "../engine/support.js";

test("one task is polled at its pace and asked about once; both calls get its end", async () => {
  const polls = [state(), asks({ ok: form() }), asks({ ok: form() }), state(), done()];
  const asked: string[] = [];
  const run = await rig(
    { "tools/call": handle(), "tasks/get": polls, "tasks/update": ack },
    { onInputRequest: ({ key }) => (asked.push(key), yes) },
  );
  const first = await startTask(run);
  await run.clock.advance(300);
  const second = await startTask(run);
  const ends = await run.within(Promise.all([first.result(), second.result()]));
  expect(ends[0]).toEqual(ends[1]);
  expect(asked).toEqual(["ok"]);
  expect(run.connection.requestsOf("tasks/update")).toHaveLength(1);
  expect(run.connection.requestsOf("tasks/get")).toHaveLength(5);
  for (const gap of gaps(run.times("tasks/get"))) expect(gap).toBeGreaterThanOrEqual(1000);
});

test("when the call that looks is forgotten, the other goes on, not sooner than the interval", async () => {
  const run = await rig({ "tools/call": handle(), "tasks/get": [state(), state(), done()] });
  const first = await startTask(run);
  await run.clock.advance(300);
  const second = await startTask(run);
  await run.clock.advance(900);
  await first.forget();
  await run.within(second.result());
  const times = run.times("tasks/get");
  expect(times).toHaveLength(3);
  for (const gap of gaps(times)) expect(gap).toBeGreaterThanOrEqual(1000);
});
