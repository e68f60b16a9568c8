/**
 * Values as a unit file must write them, so that systemd reads back exactly what was signed.
 *
 * 1. Everything stands in double quotes: blanks, single quotes, `#` and `;` mean themselves there.
 * 2. Backslash, double quote and `%` (specifiers) are doubled or escaped; in a command `$` (variables) too.
 * 3. What no quoting carries is refused: control characters, a newline first of all; halves of characters, and code
 *    points that are none, for which systemd would refuse the whole unit.
 */
import { FairleadError } from "../../../../core/errors.ts";

/** systemd's own limit of a line is 1 MiB. */
const LINE_BYTES_MAX = 1024 * 1024 - 1024;

export const environmentValue = (name: string, value: string): string => quoted(`${name}=${value}`);

/** One word of `ExecStart=` after the first. */
export const argument = (word: string): string => quoted(word.replaceAll("$", "$$$$"));

/** The first word of `ExecStart=`: systemd looks for no variables in it. */
export const executable = (path: string): string => quoted(path);

export const line = (key: string, ...values: readonly string[]): string =>
  bounded(`${key}=`, values.join(" "));

/** JSON behind a mark: it holds no newline, and does not end in a backslash. */
export const comment = (mark: string, value: unknown): string => bounded(mark, JSON.stringify(value));

function bounded(beginning: string, rest: string): string {
  const text = `${beginning}${rest}`;
  if (Buffer.byteLength(text) > LINE_BYTES_MAX)
    throw new FairleadError("PAYLOAD_TOO_LARGE", `${beginning} is longer than systemd reads`);
  return `${text}\n`;
}

const UNWRITABLE = /[\x00-\x1f\x7f]|\p{Noncharacter_Code_Point}/u;

function quoted(text: string): string {
  if (UNWRITABLE.test(text) || !text.isWellFormed()) {
    throw new FairleadError("INVALID_INPUT", "a control or non-character cannot stand in a unit file"); // (3)
  }
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%"); // (2)
  return `"${escaped}"`; // (1)
}
