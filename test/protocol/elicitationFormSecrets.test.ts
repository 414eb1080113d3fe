/** Servers must not ask for secrets in a form: a field that seems to is marked, so that the UI can warn. */
import { describe, expect, it } from "vitest";
import { elicitationForm, type JsonObject } from "./formSupport.js";

function warning(name: string, schema: JsonObject = {}): string | undefined {
  const properties = { [name]: { type: "string", ...schema } } as JsonObject;
  return elicitationForm({ type: "object", properties }).fields[0]?.warning;
}

describe("a warning", () => {
  it.each([
    "password",
    "Password2",
    "userPassword",
    "userpassword",
    "USER_PASSWORD",
    "pass_word",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "clientSecret",
    "api_key",
    "apiKey",
    "APIKey",
    "API-KEY",
    "apikey",
    "openaiApiKey",
    "token",
    "accessToken",
    "githubToken",
    "access_key_id",
    "privateKey",
    "sshKey",
    "credentials",
    "pin",
    "card_pin",
    "cvv",
    "CVC",
    "otp",
    "cardNumber",
    "seed phrase",
    "Passwort",
    "contraseña",
    "パスワード",
    "ｐａｓｓｗｏｒｄ",
  ])("for the name %s, and for the title", (words) => {
    expect(warning(words)).toBe("secret");
    expect(warning("a", { title: words })).toBe("secret");
  });

  it.each([
    "keyboard",
    "monkey",
    "key",
    "publicKey",
    "keywords",
    "tokenize",
    "tokenizer",
    "maxTokens",
    "token_count",
    "tokenLimit",
    "secretary",
    "passenger",
    "compass",
    "passwordlessLogin",
    "pinboard",
    "spin",
    "opinion",
    "pinCount",
    "card",
    "name",
    "constructor",
  ])("not for the name %s", (words) => {
    expect(warning(words)).toBe(undefined);
  });

  it("for a description that asks for one, and a format that hides one", () => {
    expect(warning("a", { description: "Your GitHub access token." })).toBe("secret");
    expect(warning("a", { description: "Enter the PIN code" })).toBe("secret");
    expect(warning("a", { description: "Pin the version?" })).toBe(undefined);
    expect(warning("a", { format: "password" })).toBe("secret");
  });

  it("only where something is typed", () => {
    expect(warning("pin", { type: "integer" })).toBe("secret");
    expect(warning("resetPassword", { type: "boolean" })).toBe(undefined);
    expect(warning("token", { enum: ["first", "second"] })).toBe(undefined);
  });

  it("is found behind a reference, and in bounded time in long texts", () => {
    const properties = { a: { $ref: "#/$defs/S" } };
    const $defs = { S: { type: "string", title: "Password" } };
    expect(elicitationForm({ type: "object", properties, $defs }).fields[0]?.warning).toBe("secret");
    for (const text of ["A".repeat(1e6), "aA".repeat(5e5), " ".repeat(1e6), "pass ".repeat(2e5)])
      expect(warning(text, { title: text, description: text })).toBe(undefined);
  });
});
