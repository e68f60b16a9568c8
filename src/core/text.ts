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

export const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text);
