/** Owns what is done with the input requests of an answer before the record sees them: unusable ones out, digests in. */
import { InvalidResponseError, type TasksError } from "../errors.js";
import { sha256 } from "../internal/ids.js";
import { canonicalJson } from "../internal/json.js";
import { readInputRequest, type ClientCapabilities, type InputRequestEntry } from "../protocol/index.js";

/** A server that goes on sending unusable ones is not reported, and remembered, without end. */
const MAX_REPORTED = 256;

/** Input requests that may be shown. */
export interface UsableInputs {
  readonly entries: readonly InputRequestEntry[];
  readonly digests: ReadonlyMap<string, string>;
}

/** Checks input requests by the rules of stand-alone ones; each unusable one is reported once, and never shown. */
export function createInputReader(
  capabilities: ClientCapabilities,
  report: (error: TasksError) => void,
): (entries: readonly InputRequestEntry[]) => Promise<UsableInputs> {
  const reported = new Set<string>();
  return async (entries) => {
    const usable: InputRequestEntry[] = [];
    const digests = new Map<string, string>();
    for (const entry of entries) {
      const [key, request] = entry;
      const read = readInputRequest(request.method, request.params, capabilities);
      if (read.ok) {
        usable.push(entry);
        digests.set(key, await sha256(canonicalJson([request.method, request.params])));
      } else if (!reported.has(key) && reported.size < MAX_REPORTED) {
        reported.add(key);
        report(new InvalidResponseError(`An input request cannot be shown: ${read.message}`));
      }
    }
    return { entries: usable, digests };
  };
}
