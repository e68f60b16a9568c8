/** A clock for other processes, moved by hand: Debian's libfaketime in front of them, and a file that says by how much. */
import { writeFile } from "node:fs/promises";

const LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

export interface MovedTime {
  /** For every process that lives by it. */
  readonly env: Readonly<Record<string, string>>;
  /** At once, for those that run and those that will. */
  move(offsetSeconds: number): Promise<void>;
}

/** The monotonic clock and the times of files stay the machine's own. */
export async function movedTime(file: string): Promise<MovedTime> {
  const move = (seconds: number): Promise<void> =>
    writeFile(file, `${seconds < 0 ? "-" : "+"}${Math.abs(Math.round(seconds))}\n`, { mode: 0o644 });
  await move(0);
  return {
    move,
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
  };
}
