/** Option values: parsed by schema, and a wrong one is a USAGE error that names the flag. */
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 } as const;

/** `90s`, `10m`, `24h`, `7d`, `500ms` → milliseconds. A bare number has no unit and is refused. */
export const DurationMs = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)$/, "a duration such as 500ms, 90s, 10m, 24h or 7d")
  .transform((text) => {
    const [, amount, unit] = /^([\d.]+)([a-z]+)$/.exec(text)!;
    return Math.round(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]);
  });

export const count = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "a whole number")
    .transform(Number)
    .pipe(z.number().min(min).max(max));

export const Ratio = z
  .string()
  .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, "a number from 0 to 1, such as 0.1")
  .transform(Number);

/** `key=value`, given any number of times. The value may hold `=`. */
export const KeyValues = z.array(z.string().regex(/^[^=]+=/s, "of the form key=value")).transform((pairs) =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  ),
);

/** `a,b,c`; an empty text is no word at all. */
export const Words = z
  .string()
  .max(10_000)
  .transform((text) =>
    text
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== ""),
  );

export function optionsOf<T>(schema: z.ZodType<T>, options: Readonly<Record<string, unknown>>): T {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new FairleadError("USAGE", `${flagOf(String(path[0]))}: ${message}`);
}

/** Commander's `rootKeys` back to `--root-keys`. */
const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
