/** Owns one host process: runs the host program named in its settings and tells the parent what happened, and when. */
const settings = JSON.parse(process.argv[2]);
const { host } = await import(settings.program);
const tell = (event, details = {}) => void process.send({ event, atMs: Date.now(), ...details });

await host({
  ...settings,
  askPerson() {
    tell("asked");
    return settings.answers ? { approve: true } : new Promise(() => undefined);
  },
  use: (result) => tell("result", { text: result.content?.[0]?.text ?? "" }),
  useLate: (settled) => tell("late", { text: settled.status }),
  report: (error) => tell("failure", { text: chain(error) }),
  // How long the host lives on after it was told something.
  hold: () => new Promise((resolve) => setTimeout(resolve, settings.holdMs)),
});
process.disconnect();

/** The error and its causes, each by class and code. No text of the server. */
function chain(error) {
  const names = [];
  for (let each = error; each instanceof Error && names.length < 4; each = each.cause) {
    const code = each instanceof DOMException ? each.name : (each.status ?? each.code);
    names.push(code === undefined ? each.constructor.name : `${each.constructor.name} ${code}`);
  }
  return names.join(" from ");
}
