/**
 * What a program prints, in a file that is turned over by size.
 *
 * 1. A full disk or a slow one loses lines, never the program: what cannot be written is dropped and counted.
 */
import { appendFile, rename, stat } from "node:fs/promises";

export interface ProgramLog {
  /** Takes over a stream of the program until it ends. */
  follow(stream: AsyncIterable<Uint8Array>): Promise<void>;
}

const KEPT = 3;

export function programLog(path: string, bytesMax: number): ProgramLog {
  let bytes: number | undefined;
  let last: Promise<void> = Promise.resolve();

  async function append(chunk: Uint8Array): Promise<void> {
    bytes ??= await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (bytes > 0 && bytes + chunk.length > bytesMax) {
      await turnOver(path);
      bytes = 0;
    }
    await appendFile(path, chunk, { mode: 0o600 });
    bytes += chunk.length;
  }

  return {
    async follow(stream) {
      try {
        for await (const chunk of stream) {
          last = last.then(async () => append(chunk)).catch(() => undefined); // (1)
          await last; // a program that prints faster than the disk takes waits on its pipe
        }
      } catch {
        // The pipe broke: there is nothing more to follow.
      }
    },
  };
}

async function turnOver(path: string): Promise<void> {
  for (let n = KEPT - 1; n >= 1; n--) await rename(`${path}.${n}`, `${path}.${n + 1}`).catch(() => undefined);
  await rename(path, `${path}.1`);
}
