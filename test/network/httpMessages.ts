/** Owns telling HTTP/1.1 messages apart in a stream of bytes, so that the proxy knows what it breaks. It changes nothing. */

/** A piece of a message: its head with the empty line, bytes of its body without their framing, or its end. */
export type Piece =
  | { readonly kind: "head"; readonly raw: Buffer; readonly chunked: boolean }
  | { readonly kind: "body"; readonly bytes: Buffer }
  | { readonly kind: "end" }
  /** The connection ended: the message too, where nothing else says how long it is. */
  | { readonly kind: "closed" };

/** Cuts one direction of a connection into messages, one after another. Throws for what is no HTTP. */
export function messageReader(of: "requests" | "responses"): (chunk: Buffer) => Piece[] {
  let held: Buffer = Buffer.alloc(0);
  let state: "head" | "length" | "size" | "chunk" | "trailer" | "open" = "head";
  let left = 0;

  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const pieces: Piece[] = [];
    while (step(pieces)) continue;
    return pieces;
  };

  function step(pieces: Piece[]): boolean {
    switch (state) {
      case "head":
        return readHead(pieces);
      case "length":
      case "chunk":
        return readBody(pieces);
      case "size":
        return readSize();
      case "trailer":
        return readTrailer(pieces);
      case "open":
        if (held.length === 0) return false;
        pieces.push({ kind: "body", bytes: take(held.length) });
        return false;
    }
  }

  function readHead(pieces: Piece[]): boolean {
    const end = held.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const raw = take(end + 4);
    const text = raw.toString("latin1");
    const length = headerOf(text, "content-length");
    const chunked = /chunked/i.test(headerOf(text, "transfer-encoding") ?? "");
    const bodiless = of === "responses" ? /^HTTP\/1\.1 (?:1\d\d|204|304)/.test(text) : length === undefined;
    pieces.push({ kind: "head", raw, chunked });
    if (chunked) state = "size";
    else if (bodiless || Number(length ?? -1) === 0) pieces.push({ kind: "end" });
    else if (length === undefined) state = "open";
    else [state, left] = ["length", Number(length)];
    return true;
  }

  function readBody(pieces: Piece[]): boolean {
    if (held.length === 0) return false;
    const bytes = take(Math.min(left, held.length));
    left -= bytes.length;
    pieces.push({ kind: "body", bytes });
    if (left > 0) return false;
    if (state === "length") {
      pieces.push({ kind: "end" });
      state = "head";
    } else if (held.length < 2) {
      // The line end of the chunk comes with the next bytes.
      state = "trailer";
      left = -1;
    } else {
      take(2);
      state = "size";
    }
    return true;
  }

  function readSize(): boolean {
    const end = held.indexOf("\r\n");
    if (end < 0) return false;
    left = Number.parseInt(take(end + 2).toString("latin1"), 16);
    if (Number.isNaN(left)) throw new Error("a chunk has no size");
    state = left === 0 ? "trailer" : "chunk";
    return true;
  }

  function readTrailer(pieces: Piece[]): boolean {
    if (held.length < 2) return false;
    take(2);
    if (left === -1) {
      state = "size";
      return true;
    }
    pieces.push({ kind: "end" });
    state = "head";
    return true;
  }

  function take(count: number): Buffer {
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  }
}

/** The value of a header in a head. */
export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, "im").exec(head)?.[1];
}

/** A piece of a body as it travels: in a chunk of its own, where the message is chunked. */
export function framed(bytes: Buffer, chunked: boolean): Buffer {
  if (!chunked || bytes.length === 0) return bytes;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** What ends a chunked body. */
export const LAST_CHUNK = Buffer.from("0\r\n\r\n");
