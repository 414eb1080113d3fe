/** Owns ids and digests, by WebCrypto. */

/** 128 random bits, as 22 URL-safe characters. */
export function randomId(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(16)));
}

/** SHA-256 of the text's UTF-8, as 43 URL-safe characters. */
export async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return base64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

function base64Url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
