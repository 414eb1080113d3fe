/** Owns the bytes of lmdb keys and values: any string is a key, any text, bytes or JSON is a value. No I/O. */
import { createHash } from "node:crypto";

/** Below lmdb's limit of 1978 bytes. */
const MAX_KEY_BYTES = 1_900;
/** The first byte of a key: the key itself in UTF-8, or a digest of one that is too long or no Unicode. */
const PLAIN_KEY = 1;
const HASHED_KEY = 2;
/** The first byte of a value, to be raised when the layout changes. */
const VALUE_VERSION = 1;
/** Version, kind, expiry (8 bytes), length of the key (4 bytes). */
const HEADER_BYTES = 14;
const TEXT = 0x74;
const JSON_TEXT = 0x6a;
const BYTES = 0x62;

/** What is stored under a key. */
export interface LmdbEntry {
  /** The whole key; the stored bytes hold it only where it is hashed. */
  readonly key: string;
  readonly value: unknown;
  /** Infinity for no expiry. */
  readonly expiresAtMs: number;
}

/** A range of key bytes, end excluded. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** The bytes of a key. Different keys have different bytes. */
export function keyBytes(key: string): Buffer {
  // No lone surrogates (UTF-8 has none, and would make them all alike).
  if (!/\p{Surrogate}/u.test(key)) {
    const utf8 = Buffer.from(key, "utf8");
    if (utf8.length <= MAX_KEY_BYTES) return Buffer.concat([Buffer.of(PLAIN_KEY), utf8]);
  }
  return Buffer.concat([Buffer.of(HASHED_KEY), createHash("sha256").update(key, "utf16le").digest()]);
}

/** Where the keys with a prefix are: in order, and among all the hashed ones. */
export function keyRanges(prefix: string): readonly KeyRange[] {
  const start = keyBytes(prefix);
  const hashed: KeyRange = { start: Buffer.of(HASHED_KEY), end: Buffer.of(HASHED_KEY + 1) };
  if (start[0] !== PLAIN_KEY) return [hashed];
  // 0xff is in no UTF-8 text.
  return [{ start, end: Buffer.concat([start, Buffer.of(0xff)]) }, hashed];
}

/** The bytes of a value. Throws a TypeError for what JSON cannot carry. */
export function encodeEntry(entry: LmdbEntry, bytes: Buffer): Buffer {
  const key = bytes[0] === HASHED_KEY ? Buffer.from(entry.key, "utf16le") : Buffer.alloc(0);
  const [kind, body] = encodeBody(entry.value);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(VALUE_VERSION, 0);
  header.writeUInt8(kind, 1);
  header.writeDoubleLE(entry.expiresAtMs, 2);
  header.writeUInt32LE(key.length, 10);
  return Buffer.concat([header, key, body]);
}

/** Reads what is stored. Bytes that are none of ours are a value without expiry: the text they would be. */
export function decodeEntry(stored: Uint8Array, bytes: Uint8Array): LmdbEntry {
  const buffer = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const keyLength = buffer.length < HEADER_BYTES ? Infinity : buffer.readUInt32LE(10);
  const bodyAt = HEADER_BYTES + keyLength;
  const plainKey = Buffer.from(bytes.subarray(1)).toString("utf8");
  const asFound = { key: plainKey, value: buffer.toString("latin1"), expiresAtMs: Infinity };
  if (buffer[0] !== VALUE_VERSION || bodyAt > buffer.length) return asFound;
  const value = decodeBody(buffer.readUInt8(1), buffer.subarray(bodyAt));
  if (value === undefined) return asFound;
  const key = keyLength === 0 ? plainKey : buffer.subarray(HEADER_BYTES, bodyAt).toString("utf16le");
  return { key, value, expiresAtMs: buffer.readDoubleLE(2) };
}

function encodeBody(value: unknown): [kind: number, body: Buffer] {
  if (typeof value === "string" && !/\p{Surrogate}/u.test(value)) return [TEXT, Buffer.from(value, "utf8")];
  if (value instanceof Uint8Array) return [BYTES, Buffer.from(value)];
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined)
    throw new TypeError(`A value must be text, bytes or JSON, but is a ${typeof value}`);
  return [JSON_TEXT, Buffer.from(json, "utf8")];
}

function decodeBody(kind: number, body: Buffer): unknown {
  if (kind === TEXT) return body.toString("utf8");
  if (kind === BYTES) return Buffer.from(body);
  if (kind !== JSON_TEXT) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
