/**
 * Owns the question whether a data file of lmdb was cut short. lmdb maps the file and does not look: what is missing
 * would end the process with SIGBUS on the first read. It only reads, and page by page.
 */
import type { FileHandle } from "node:fs/promises";
import { endianness } from "node:os";

/** Of the head of a page: its flags, the end of its node offsets, where these begin. */
const FLAGS_AT = 18;
const LOWER_AT = 20;
const PAGE_HEAD = 24;
const BRANCH = 1;
const LEAF = 2;
/** Of a meta page, counted from its magic number. */
const PAGE_SIZE_AT = 24;
const FREE_ROOT_AT = 64;
const MAIN_ROOT_AT = 112;
const LAST_PAGE_AT = 120;
const TRANSACTION_AT = 128;
const META_BYTES = 192;
/** Of a node: what points to a page of its own. */
const BIG_DATA = 1;
const NO_ROOT = 0xffff_ffff_ffff_ffffn;
const SMALLEST_PAGE = 256;
const LARGEST_PAGE = 65_536;

interface Meta {
  readonly transaction: bigint;
  readonly lastPage: bigint;
  readonly roots: readonly bigint[];
}

/** How often a look is repeated that another process's commit came into. */
const MOST_LOOKS = 5;

/** Whether pages that the newest commit needs are missing at the end. `magicAt`: where the magic number is. */
export async function isCutShort(file: FileHandle, magicAt: number): Promise<boolean> {
  // The file is in the machine's byte order; the other one is rare enough to be left to lmdb.
  if (endianness() !== "LE") return false;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const metas = await readMetas(file, magicAt);
    if (metas === "unknown") return false;
    if (metas === undefined) return true;
    // The size comes after: a commit makes the file longer before it says so.
    const size = BigInt((await file.stat()).size);
    if (size >= (metas.newest.lastPage + 1n) * BigInt(metas.pageSize)) return false;
    // The last pages may never have been written, where they were free at once: look whether any that counts is missing.
    if (await allThere(file, metas.newest.roots, metas.pageSize, size)) return false;
    const again = await readMetas(file, magicAt);
    if (again === undefined || again === "unknown") return true;
    if (again.newest.transaction === metas.newest.transaction) return true;
  }
  // Somebody writes to it all the time, so it cannot be that bad.
  return false;
}

/** Undefined where they are missing; unknown where they are not as they should be, which lmdb finds too. */
async function readMetas(
  file: FileHandle,
  magicAt: number,
): Promise<{ readonly pageSize: number; readonly newest: Meta } | "unknown" | undefined> {
  const first = await bytesAt(file, magicAt, META_BYTES);
  if (first === undefined) return undefined;
  const pageSize = first.readUInt32LE(PAGE_SIZE_AT);
  if (pageSize < SMALLEST_PAGE || pageSize > LARGEST_PAGE) return "unknown";
  const second = await bytesAt(file, pageSize + magicAt, META_BYTES);
  if (second === undefined) return undefined;
  const [a, b] = [readMeta(first), readMeta(second)];
  return { pageSize, newest: b.transaction > a.transaction ? b : a };
}

async function allThere(
  file: FileHandle,
  roots: readonly bigint[],
  pageSize: number,
  size: bigint,
): Promise<boolean> {
  const open = roots.filter((root) => root !== NO_ROOT);
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    if ((page + 1n) * BigInt(pageSize) > size) return false;
    const bytes = await bytesAt(file, Number(page) * pageSize, pageSize);
    if (bytes === undefined) return false;
    const flags = bytes.readUInt16LE(FLAGS_AT);
    if ((flags & (BRANCH | LEAF)) === 0) return false;
    const nodes = bytes.readUInt16LE(LOWER_AT) / 2;
    for (let at = 0; at < nodes; at += 1) {
      const node = PAGE_HEAD + bytes.readUInt16LE(PAGE_HEAD + 2 * at);
      const low = bytes.readUInt32LE(node);
      const nodeFlags = bytes.readUInt16LE(node + 4);
      const keyBytes = bytes.readUInt16LE(node + 6);
      if ((flags & BRANCH) !== 0) open.push(BigInt(low) + BigInt(nodeFlags) * 0x1_0000_0000n);
      else if ((nodeFlags & BIG_DATA) !== 0) {
        const begin = bytes.readBigUInt64LE(node + 8 + keyBytes) * BigInt(pageSize);
        if (begin + BigInt(PAGE_HEAD + low) > size) return false;
      }
    }
  }
  return true;
}

function readMeta(bytes: Buffer): Meta {
  return {
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
    lastPage: bytes.readBigUInt64LE(LAST_PAGE_AT),
    roots: [bytes.readBigUInt64LE(FREE_ROOT_AT), bytes.readBigUInt64LE(MAIN_ROOT_AT)],
  };
}

/** Undefined where the file ends before. */
async function bytesAt(file: FileHandle, at: number, count: number): Promise<Buffer | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, at);
  return bytesRead === count ? buffer : undefined;
}
