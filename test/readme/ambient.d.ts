/** Owns the shapes of packages that recipes import and that come without types. */

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
