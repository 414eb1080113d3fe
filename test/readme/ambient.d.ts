/** Owns the shapes of packages that recipes import and that come without types, or are not installed here. */

declare module "express" {
  interface Request {
    readonly params: Readonly<Record<string, string>> & { readonly id: string };
  }
  interface Response {
    status(code: number): Response;
    json(body: unknown): void;
  }
  type Handler = (request: Request, response: Response) => void | Promise<void>;
  interface Application {
    get(path: string, handler: Handler): Application;
    post(path: string, handler: Handler): Application;
    listen(port: number): { close(callback: () => void): void };
  }
  export default function express(): Application;
}

declare module "@keyv/redis" {
  /** As `@keyv/redis` 5 declares it, as far as a storage adapter goes. */
  export default class KeyvRedis {
    constructor(url: string);
    get<Value>(key: string): Promise<Value | undefined>;
    set(key: string, value: string, ttl?: number): Promise<void>;
    delete(key: string): Promise<boolean>;
    iterator<Value>(namespace?: string): AsyncGenerator<[string, Value | undefined], void, unknown>;
  }
}
