/** Owns telling whether a field asks for a secret, by its words. It can be wrong both ways: it warns, it forbids nothing. */

/** In any place: also within longer words. */
const PARTS =
  /password(?!less)|passphrase|passcode|passwd|passwort|kennwort|wachtwoord|contraseña|apikey|accesskey|privatekey|secretkey|(?:access|auth|api|bearer)token|密码|密碼|パスワード|비밀번호|пароль/;
/** Whole words only: a keyboard, a tokenizer and a pinboard are none. */
const WORDS = new RegExp(
  ` (?:${[
    "pass ?(?:word|phrase|code|key)s?",
    "pwd",
    "secrets?",
    "credentials?",
    "mot de passe",
    "senha",
    "(?:api|access|private|secret|encryption|signing|ssh|recovery|service account|license) keys?",
    "(?:seed|recovery) (?:phrase|code)s?",
    "mnemonic",
    "(?:access|auth|api|bearer|refresh|session|id) tokens?",
    "jwt",
    "token(?! (?:counts?|limits?|budget|usage|size|length|type|name)\\b)",
    "(?:one time|security|verification|pin|tan) (?:code|number|password)s?",
    "otp",
    "totp",
    "cvv2?",
    "cvc2?",
    "(?:credit|debit)? ?card (?:number|no)",
  ].join("|")}) `,
);
/** A name or title that is only this; in a sentence it may be a verb. */
const PIN = /^ (?:\w+ )?pin $/;

export interface FieldWords {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

/** True for a field that asks for a password, a key, a token or the like. Takes time in proportion to the text. */
export function asksForSecret({ name, title, description }: FieldWords): boolean {
  const [nameWords, titleWords] = [wordsOf(name), wordsOf(title)];
  if (PIN.test(nameWords) || PIN.test(titleWords)) return true;
  return [nameWords, titleWords, wordsOf(description)].some(
    (words) => PARTS.test(words) || WORDS.test(words),
  );
}

/** `apiKey`, `API_KEY` and `APIKey` are all ` api key `. */
function wordsOf(text: string): string {
  const words = text
    // Sorting a long run of accents takes the square of it, and one sign may stand for a whole sentence.
    .replace(/(\p{M}{4})\p{M}+/gu, "$1")
    .normalize("NFKC")
    .slice(0, text.length)
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/\p{Lu}\p{Ll}/gu, " $&")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ");
  return ` ${words.trim()} `;
}
