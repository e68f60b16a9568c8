/**
 * Text for people and JSON for scripts.
 *
 * 1. Nothing that came from elsewhere reaches a terminal with its control characters.
 * 2. An error is one object with a code; a stack is never shown.
 */
import { styleText } from "node:util";
import { ERROR_CODES } from "../core/error-codes.ts";
import { exitCodeOf, FairleadError, type ErrorBody } from "../core/errors.ts";
import { errnoOf, fileErrorCode } from "../host/file-errors.ts";
import type { Io } from "./io.ts";

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";
export type Paint = (style: Style, text: string) => string;

export const plainPaint: Paint = (_style, text) => text;

/** https://no-color.org: any value that is not empty turns colours off. */
export function paintFor(io: Pick<Io, "env" | "stdout">): Paint {
  if (!io.stdout.isTTY || (io.env["NO_COLOR"] ?? "") !== "") return plainPaint;
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** Invariant 1: a node's error message must not move an operator's cursor. */
export const printable = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\u{fffd}");

/** Columns as wide as their widest cell; the last one is left ragged. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => printable(cell)));
  const widths = head.map((_name, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** One field a line; what is null has no line. */
export function fields(entries: readonly (readonly [string, string | null])[]): string {
  const shown = entries.filter((entry): entry is readonly [string, string] => entry[1] !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`).join("\n");
}

export interface Failure {
  readonly body: ErrorBody;
  readonly exit: number;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof FairleadError) return { body: error.body(), exit: exitCodeOf(error.code) };
  const message = error instanceof Error ? error.message : String(error);
  const fileCode = fileErrorCode(error);
  if (fileCode !== undefined) return failureOf(new FairleadError(fileCode, message, undefined, error));
  if (errnoOf(error) !== undefined && error instanceof Error && "syscall" in error) {
    const next = "Check the named path, its permissions and the disk.";
    return { body: { code: "INVALID_INPUT", message, next }, exit: exitCodeOf("INVALID_INPUT") };
  }
  const next = "This is a fault of the CLI itself: run it again, and report the message if it stays.";
  return { body: { code: "INTERNAL", message, next }, exit: exitCodeOf("INTERNAL") };
}

export function writeFailure(io: Io, json: boolean, { body }: Failure): void {
  if (json) return io.stdout.write(`${JSON.stringify({ error: body })}\n`);
  io.stderr.write(`error ${body.code}: ${printable(body.message)}\n`);
  io.stderr.write(`what to do: ${printable(body.next)}\n`);
  const request = body.detail?.["request_id"];
  if (typeof request === "string" && ERROR_CODES[body.code].http >= 500)
    io.stderr.write(`request id: ${printable(request)}\n`);
}
