/** Owns what a person must know of an address before it is opened: its host, and what is odd about it. Pure; it fetches nothing. */
import { unicodeHost } from "./punycode.js";

/** What is odd about an address that may be opened all the same. */
export type UrlWarning = "punycode" | "mixed-script" | "credentials" | "insecure";

/** An address as it is shown. `refused`: it must not be opened; its text is the server's then. */
export type UrlFacts =
  | { readonly refused: "scheme" | "unreadable"; readonly text: string }
  | {
      readonly refused?: undefined;
      /** As a browser would open it; what the parts below make up. */
      readonly href: string;
      readonly before: string;
      readonly host: string;
      readonly after: string;
      /** The host as browsers may show it, where that differs. */
      readonly looksLike?: string;
      readonly warnings: readonly UrlWarning[];
    };

/** Alphabets with letters that look like others'. */
const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
];

export function urlFacts(text: string): UrlFacts {
  if (!URL.canParse(text)) return { refused: "unreadable", text };
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return { refused: "scheme", text };
  const { href, host, hostname, username, password } = url;
  const at = href.indexOf(host, url.protocol.length + 2 + userInfoLength(username, password));
  const looksLike = unicodeHost(hostname);
  const warnings: UrlWarning[] = [];
  if (/(^|\.)xn--/.test(hostname)) warnings.push("punycode");
  if (looksLike.split(".").some(mixesScripts)) warnings.push("mixed-script");
  if (username !== "" || password !== "") warnings.push("credentials");
  if (url.protocol === "http:") warnings.push("insecure");
  return {
    href,
    before: href.slice(0, at),
    host,
    after: href.slice(at + host.length),
    ...(looksLike === hostname ? {} : { looksLike }),
    warnings,
  };
}

function mixesScripts(label: string): boolean {
  return SCRIPTS.filter((script) => script.test(label)).length > 1;
}

/** As the parts before the `@` stand in an address. */
function userInfoLength(username: string, password: string): number {
  if (username === "" && password === "") return 0;
  return username.length + (password === "" ? 0 : password.length + 1) + 1;
}
