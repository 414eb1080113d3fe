/**
 * Owns the encryption of one text: AES-256-GCM by WebCrypto, with a random 96-bit IV per text, bound to the store
 * key it is stored under. It never shows key bytes, in messages neither.
 */
import { decodeBase64, encodeBase64 } from "../internal/base64.js";

/** What an encrypted text begins with: scheme and version. Then key id, IV and ciphertext, separated by colons. */
const SCHEME = "taskrail-aes256gcm-1";
const IV_BYTES = 12;
const KEY_BYTES = 32;

/** A key of `encryptedStore`: 32 random bytes, or an AES-GCM CryptoKey of 256 bits for encrypting and decrypting. */
export type EncryptionKey = CryptoKey | Uint8Array;

/** What reading a text gave. */
export type Decrypted =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "not-encrypted" | "unknown-key" | "altered" };

/** Encrypts with the first of its keys, decrypts with any. */
export interface Cipher {
  readonly encrypt: (text: string, storeKey: string) => Promise<string>;
  readonly decrypt: (stored: string, storeKey: string) => Promise<Decrypted>;
  /** True for what `encrypt` made, of this version; says nothing of whether it can be decrypted. */
  readonly isEncrypted: (stored: string) => boolean;
}

/** A cipher over `keys`, whose first is the current one. Throws a TypeError for what is no such key. */
export function cipher(keys: readonly EncryptionKey[], names: readonly string[]): Cipher {
  const material = keys.map((key, at) => checkedKey(key, names[at] ?? "key"));
  let ring: Promise<readonly RingKey[]> | undefined;

  return {
    isEncrypted: (stored) => stored.startsWith(`${SCHEME}:`),

    async encrypt(text, storeKey) {
      const [current] = await opened();
      if (current === undefined) throw new TypeError("key must be given");
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const sealed = await crypto.subtle.encrypt(parameters(iv, storeKey), current.key, utf8(text));
      return [SCHEME, current.id, encodeBase64(iv), encodeBase64(new Uint8Array(sealed))].join(":");
    },

    async decrypt(stored, storeKey) {
      const [scheme, id, ivText, sealedText, ...more] = stored.split(":");
      if (scheme !== SCHEME) return { kind: "not-encrypted" };
      const iv = decodeBase64(ivText ?? "");
      const sealed = decodeBase64(sealedText ?? "");
      if (iv?.length !== IV_BYTES || sealed === undefined || more.length > 0) return { kind: "altered" };
      const used = (await opened()).find((each) => each.id === id);
      if (used === undefined) return { kind: "unknown-key" };
      try {
        const bytes = await crypto.subtle.decrypt(parameters(iv, storeKey), used.key, sealed);
        return { kind: "text", text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
      } catch {
        // The one reason that WebCrypto gives is that text, IV, store key and key do not belong together.
        return { kind: "altered" };
      }
    },
  };

  function opened(): Promise<readonly RingKey[]> {
    ring ??= Promise.all(material.map(ringKey));
    return ring;
  }
}

interface RingKey {
  readonly id: string;
  readonly key: CryptoKey;
}

function checkedKey(given: unknown, name: string): CryptoKey | Uint8Array<ArrayBuffer> {
  if (given instanceof Uint8Array) {
    if (given.length !== KEY_BYTES) {
      throw new TypeError(`${name} must have ${KEY_BYTES} bytes (AES-256), but has ${given.length}`);
    }
    // A copy, so that the host may wipe its own.
    return Uint8Array.from(given);
  }
  if (!(given instanceof CryptoKey)) {
    throw new TypeError(
      `${name} must be a Uint8Array of ${KEY_BYTES} bytes or a CryptoKey, but is ${kindOf(given)}`,
    );
  }
  const { name: algorithm, length } = given.algorithm as AesKeyAlgorithm;
  if (algorithm !== "AES-GCM" || length !== KEY_BYTES * 8) {
    throw new TypeError(`${name} must be a CryptoKey for AES-GCM with 256 bits, but is one for ${algorithm}`);
  }
  if (!given.usages.includes("encrypt") || !given.usages.includes("decrypt")) {
    throw new TypeError(`${name} must be a CryptoKey with the usages encrypt and decrypt`);
  }
  return given;
}

async function ringKey(given: CryptoKey | Uint8Array<ArrayBuffer>): Promise<RingKey> {
  const key =
    given instanceof Uint8Array
      ? await crypto.subtle.importKey("raw", given, "AES-GCM", false, ["encrypt", "decrypt"])
      : given;
  return { id: await keyId(key), key };
}

/**
 * A short public name of a key, also of one that cannot be exported: the hash of the tag that the key gives to an
 * empty text with an IV of zeros, which no real text has (those are random).
 */
async function keyId(key: CryptoKey): Promise<string> {
  const tag = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: new Uint8Array(IV_BYTES), additionalData: utf8(`${SCHEME} key id`) },
    key,
    new Uint8Array(0),
  );
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", tag));
  return Array.from(hash.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function parameters(iv: Uint8Array<ArrayBuffer>, storeKey: string): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: utf8(`${SCHEME} ${storeKey}`) };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function kindOf(value: unknown): string {
  return value === null || value === undefined ? String(value) : `a ${typeof value}`;
}
