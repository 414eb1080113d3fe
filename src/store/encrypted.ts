/** Owns encryption at rest: a KeyValueStore whose values another store only sees encrypted. Keys stay readable. */
import { refuseUnknown } from "../internal/options.js";
import { cipher, type EncryptionKey } from "./cipher.js";
import { toKeyValueStore } from "./keyValue.js";
import type { KeyValueStore, StoreInput, UnreadableReason } from "./types.js";

export interface EncryptedStoreOptions {
  /** Keys that older entries may be encrypted with. They are read with these and written with the current one. */
  readonly previousKeys?: readonly EncryptionKey[];
}

/** Put before a text that is not encrypted, so that it is read as no record. */
const PLANTED = "not encrypted:";

/** Why an entry could not be decrypted, in words. Without its text. */
const REASONS = {
  altered: {
    kind: "corrupt",
    message: "the encrypted value was altered, damaged, or moved here from another entry",
  },
  "unknown-key": {
    kind: "foreign",
    message:
      "the value is encrypted with another key than those given (see previousKeys); it stays where it is",
  },
  "not-encrypted": {
    kind: "foreign",
    message: "the value is not encrypted; it stays where it is",
  },
} as const satisfies Record<string, UnreadableReason>;

/**
 * Encrypts all values before they reach `store`, with AES-256-GCM. Each value is bound to its entry, so that entries
 * cannot be exchanged unnoticed. What cannot be decrypted never reads as absent, and is neither overwritten nor
 * lost: an altered value is set aside as it is; one of a key that was not given, or one that is not encrypted at
 * all, stays where it is, so that giving the right key brings it back. Both are reported, and other records go on.
 *
 * `key` is 32 random bytes (not a password) or a CryptoKey for AES-GCM of 256 bits with the usages encrypt and
 * decrypt. Rotate by giving the new key and the old one in `previousKeys`. One key serves 2^32 writes.
 *
 * @throws TypeError where a key or the store is not what it should be.
 */
export function encryptedStore(
  store: StoreInput,
  key: EncryptionKey,
  options: EncryptedStoreOptions = {},
): KeyValueStore {
  if (typeof options !== "object" || options === null) throw new TypeError("options must be an object");
  refuseUnknown("encryptedStore", options, ["previousKeys"]);
  const previous = previousKeysOf(options);
  const { encrypt, decrypt, isEncrypted } = cipher(
    [key, ...previous],
    ["key", ...previous.map((_, at) => `previousKeys[${at}]`)],
  );
  if (store === undefined) throw new TypeError("store must be given");
  const inner = toKeyValueStore(store);
  const entries = inner.entries?.bind(inner);
  const setIfAbsent = inner.setIfAbsent?.bind(inner);
  const setIfUnchanged = inner.setIfUnchanged?.bind(inner);

  const encrypted: KeyValueStore = {
    kind: "mcp-taskrail.key-value-store",
    async get(entryKey) {
      const stored = await inner.get(entryKey);
      return stored === undefined ? undefined : plain(stored, entryKey);
    },
    async set(entryKey, value, ttlMs) {
      await inner.set(entryKey, await encrypt(value, entryKey), ttlMs);
    },
    delete: (entryKey) => inner.delete(entryKey),
    async move(from, to) {
      const stored = await inner.get(from);
      if (stored === undefined) return;
      const result = await decrypt(stored, from);
      // What cannot be decrypted goes as it is; the rest is bound to its new entry.
      await inner.set(to, result.kind === "text" ? await encrypt(result.text, to) : stored, undefined);
      // Another process may have written a good value meanwhile.
      if ((await inner.get(from)) === stored) await inner.delete(from);
    },
    async explainUnreadable(text) {
      if (text.startsWith(PLANTED)) return REASONS["not-encrypted"];
      if (!isEncrypted(text)) return undefined;
      // The store key is not known here. It need not be: had the text belonged to it, it would have been decrypted.
      const result = await decrypt(text, "");
      return result.kind === "text" ? undefined : REASONS[result.kind];
    },
  };
  if (inner.liveness !== undefined) encrypted.liveness = inner.liveness;
  if (entries !== undefined) {
    encrypted.entries = async function* (prefix) {
      for await (const [entryKey, stored] of entries(prefix)) {
        yield [entryKey, typeof stored === "string" ? await plain(stored, entryKey) : stored];
      }
    };
  }
  if (setIfAbsent !== undefined) {
    encrypted.setIfAbsent = async (entryKey, value, ttlMs) =>
      setIfAbsent(entryKey, await encrypt(value, entryKey), ttlMs);
  }
  if (setIfUnchanged !== undefined) {
    encrypted.setIfUnchanged = async (entryKey, seen, value, ttlMs) => {
      const stored = await inner.get(entryKey);
      if (stored === undefined || (await plain(stored, entryKey)) !== seen) return false;
      return setIfUnchanged(entryKey, stored, await encrypt(value, entryKey), ttlMs);
    };
  }
  return encrypted;

  /** The text, or what is stored where it cannot be decrypted: no record, but there. */
  async function plain(stored: string, entryKey: string): Promise<string> {
    const result = await decrypt(stored, entryKey);
    if (result.kind === "text") return result.text;
    // A plaintext in an encrypted store may have been planted: it must not pass for a record.
    return result.kind === "not-encrypted" ? PLANTED + stored : stored;
  }
}

function previousKeysOf({ previousKeys = [] }: EncryptedStoreOptions): readonly EncryptionKey[] {
  if (Array.isArray(previousKeys)) return previousKeys as readonly EncryptionKey[];
  throw new TypeError("previousKeys must be an array of keys");
}
