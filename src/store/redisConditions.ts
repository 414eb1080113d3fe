/**
 * Owns writes to Redis that depend on what is there, over the storage adapter of Keyv 5 (`@keyv/redis`), whose own
 * contract has none. It names and codes nothing.
 */
import { isObject } from "../internal/json.js";
import type { ConditionalAdapter } from "./types.js";

/**
 * KEYS[1]: the entry. ARGV: the value that must be there, the new one, its time to live in milliseconds or "". One
 * script is one step in Redis.
 */
const SET_IF_UNCHANGED = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == "" then redis.call("SET", KEYS[1], ARGV[2])
else redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3]) end
return 1`;

/** The part of the adapter that is used. */
interface RedisAdapter {
  readonly namespace?: unknown;
  get(key: string): unknown;
  set(key: string, value: unknown, ttlMs?: number): unknown;
  getClient(): Promise<RedisClient>;
  createKeyPrefix(key: string, namespace?: string): string;
}

/** `eval` is the one command that plain, cluster and sentinel clients offer in the same shape. */
interface RedisClient {
  set(key: string, value: string, options: object): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The conditions, or undefined where `source` is no such adapter. */
export function redisConditions(source: object): ConditionalAdapter | undefined {
  if (!isRedisAdapter(source)) return undefined;
  /** False once the server said that it runs no scripts (a managed one, by its access rules). */
  let scripts = true;

  async function setIf(
    key: string,
    seen: string | undefined,
    value: string,
    ttlMs: number | undefined,
  ): Promise<boolean> {
    const adapter = source as RedisAdapter;
    const client = await adapter.getClient();
    const name = adapter.createKeyPrefix(key, namespaceOf(adapter));
    const px = ttlMs === undefined ? "" : String(Math.max(Math.ceil(ttlMs), 1));
    if (seen === undefined) {
      const expiry = px === "" ? {} : { PX: Number(px) };
      return (await client.set(name, value, { NX: true, ...expiry })) !== null;
    }
    if (scripts) {
      try {
        const done = await client.eval(SET_IF_UNCHANGED, { keys: [name], arguments: [seen, value, px] });
        return Number(done) === 1;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        scripts = false;
      }
    }
    // As good as it gets there: between the two steps another process may write.
    if ((await adapter.get(key)) !== seen) return false;
    await adapter.set(key, value, ttlMs);
    return true;
  }

  return {
    setIfAbsent: (key, value, ttlMs) => setIf(key, undefined, value as string, ttlMs),
    setIfUnchanged: (key, seen, value, ttlMs) => setIf(key, seen as string, value as string, ttlMs),
  };
}

function isRedisAdapter(source: object): source is RedisAdapter {
  const { opts, getClient, createKeyPrefix } = source as Record<string, unknown>;
  const isRedis = isObject(opts) && opts["dialect"] === "redis";
  return isRedis && typeof getClient === "function" && typeof createKeyPrefix === "function";
}

function namespaceOf(adapter: RedisAdapter): string | undefined {
  return typeof adapter.namespace === "string" ? adapter.namespace : undefined;
}

/** The first word of an error of Redis is its code. */
function isRefusal(error: unknown): boolean {
  const said = error instanceof Error ? error.message : "";
  return said.startsWith("NOPERM ") || said.startsWith("ERR unknown command");
}
