/** Text from outside that ends in rows, files and on terminals. */
import { z } from "zod";

/** One line without control characters. */
export const LineText = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .refine((text) => !hasControl(text), "control characters are refused");

/** Several lines; a NUL is what neither PostgreSQL nor a C program keeps. */
export const LongText = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .refine((text) => !text.includes("\0"), "a NUL is refused");

/** With what YAML parsers take for a line's end: NEL and the two separators. */
export const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);
