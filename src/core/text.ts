/**
 * Text from outside that ends in rows, files and on terminals.
 *
 * 1. Every schema here refuses what PostgreSQL cannot store: NUL, and a surrogate without its other half.
 */
import { z } from "zod";

/** Whether a text column and a jsonb value can hold it (1). */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/** Any storable text, of any number of lines. */
export const LongText = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .refine((text) => !text.includes("\0"), "a NUL is refused")
    .refine((text) => text.isWellFormed(), "a lone surrogate is refused");

/** One line without control characters. */
export const LineText = (charsMax: number) =>
  LongText(charsMax).refine((text) => !hasControl(text), "control characters are refused");

/** With what YAML parsers take for a line's end: NEL and the two separators. */
export const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);

/** Text of a program, an engine or an error as `LongText` accepts it: cut to its bound, and replaced where it is not storable. */
export const storableText = (text: string, charsMax: number): string =>
  text.slice(0, charsMax).replaceAll("\0", "\ufffd").toWellFormed();

/** A message with every text in it made storable: the sender's own fault must not keep the message from its reader. */
export function withStorableText<T>(value: T): T {
  if (typeof value === "string") return storableText(value, value.length) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => withStorableText(item)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withStorableText(item)])) as T;
}
