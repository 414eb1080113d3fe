/** F091: keep-alives of blanks, or of several empty data lines, were read as JSON and ended the stream. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { httpConnection } from "../../src/connection/http.js";
import { requestOptions, resultText, sse } from "../connection/support.js";
import { startRawServer, type RawServer } from "../helpers/rawServer.js";

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.stop());

test.each([
  "data:  \n\n",
  "data:\ndata:\n\n",
  "event: message\ndata: \ndata:\t\n\n",
  "data\r\n\r\n",
  "id: 7\ndata: \n\n",
])("%j says nothing, and the answer after it is read", async (frame) => {
  const answer = `data: ${resultText({ content: [] })}\n\n`;
  const url = await server.script(
    `/blank/${encodeURIComponent(frame)}`,
    sse({ text: frame }, { text: answer }),
  );
  const connection = httpConnection(url);
  expect(await connection.request("tools/call", { name: "t" }, requestOptions)).toEqual({ content: [] });
  await connection.close();
});
