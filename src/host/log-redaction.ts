/** What never reaches a log: values under a secret's name, and secrets known by their form. */

const HIDDEN = "[redacted]";
const DEPTH_MAX = 8;
const TEXT_CHARS_MAX = 4_096;
const ITEMS_MAX = 100;

/** Compared without case and separators, so that `apiKey`, `api_key` and `X-API-Key` are one name. */
const SECRET_NAMES = [
  "token",
  "secret",
  "apikey",
  "authorization",
  "privatekey",
  "password",
  "passwd",
  "passphrase",
  "cookie",
  "credential",
  "signingkey",
  "databaseurl",
];

const SECRET_FORMS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/\bfl1\.[A-Za-z0-9._-]{8,}/g, `fl1.${HIDDEN}`],
  [/\bflk_[A-Za-z0-9_-]{8,}/g, `flk_${HIDDEN}`],
  [/\bwhsec_[A-Za-z0-9+/=]{8,}/g, `whsec_${HIDDEN}`],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, HIDDEN],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s@/]+@/gi, `$1:${HIDDEN}@`],
];

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return SECRET_NAMES.some((secret) => plain.includes(secret));
}

export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) return "[deep]";
  if (value instanceof Error) return redactError(value, depth);
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ITEMS_MAX)
      .map(([name, item]) => [
        name,
        isSecretName(name) && !isHarmless(item) ? HIDDEN : redact(item, depth + 1),
      ]),
  );
}

function redactText(text: string): string {
  const short = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
  return SECRET_FORMS.reduce((shown, [form, instead]) => shown.replace(form, instead), short);
}

function redactError(error: Error, depth: number): unknown {
  const { name, message, stack, cause } = error; // not enumerable, unlike a code or a detail
  return redact(
    {
      ...Object.fromEntries(Object.entries(error)),
      name,
      message,
      stack,
      ...(cause === undefined ? {} : { cause }),
    },
    depth + 1,
  );
}

/** `token_expired: true` hides nothing worth hiding. */
const isHarmless = (item: unknown): boolean =>
  item === null || item === undefined || typeof item === "boolean";
