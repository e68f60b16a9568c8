/**
 * Standard streams that may fail (ENOSPC, EIO, EPIPE) without ending the process.
 *
 * 1. An error of a stream without a listener is an uncaught exception: each guarded stream has one.
 * 2. Lost lines are counted. The first line that is written afterwards follows a notice with the count and the cause.
 * 3. A reader that stalls holds up no one: beyond `PENDING_BYTES_MAX` of unread lines, newer lines are lost.
 */
import type { Writable } from "node:stream";
import { errnoOf } from "./file-errors.ts";

const PENDING_BYTES_MAX = 1024 * 1024;

/** The part of a stream that is used here. */
type Stream = Pick<Writable, "on" | "write" | "writableLength">;

const guarded = new WeakSet<Stream>();

/** From now on a failed write to one of these streams is lost, and the process goes on. */
export function guardStreams(...streams: readonly Stream[]): void {
  for (const stream of streams) {
    if (guarded.has(stream)) continue;
    guarded.add(stream);
    stream.on("error", () => undefined); // (1)
  }
}

export type LineSink = (line: string) => void;

/** `notice` composes the line that tells how many lines were lost, and why. */
export function lineSink(stream: Stream, notice: (lost: number, cause: string) => string): LineSink {
  guardStreams(stream);
  let lost = 0;
  let cause = "";

  function lose(lines: number, why: string): void {
    lost += lines;
    cause = why;
  }

  return (line) => {
    if (stream.writableLength > PENDING_BYTES_MAX) return lose(1, "the reader of the log stalls"); // (3)
    const before = lost;
    lost = 0;
    stream.write(before === 0 ? line : notice(before, cause) + line, (error) => {
      if (error != null) lose(before + 1, errnoOf(error) ?? error.message); // (2)
    });
  };
}
