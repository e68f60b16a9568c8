/**
 * Statements of one transaction, sent without waiting for the answer to the one before.
 *
 * 1. Its one connection runs them in the order in which they stand here, so a lock may come first; of an item of several
 *    statements, the first. Promise.all alone does not keep that order: a bare query begins when it is waited for, an
 *    async function's when it is called.
 * 2. It ends when all have ended, also when one has failed: what an item still sends finds the transaction, and not a
 *    connection that has been given back. The failure is the first one, not what followed from it.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

type Item = () => PromiseLike<unknown> | undefined;
type Results<Items extends readonly Item[]> = {
  -readonly [At in keyof Items]: Awaited<ReturnType<Items[At]>>;
};

export async function pipelined<const Items extends readonly Item[]>(
  ...items: Items
): Promise<Results<Items>> {
  const begun = items.map((item) => Promise.resolve(item())); // (1)
  try {
    return (await Promise.all(begun)) as Results<Items>;
  } finally {
    await Promise.allSettled(begun); // (2)
  }
}

/**
 * Work on many rows, part by part: while the database writes one part, the next is made here, and between two of them
 * everybody else has a turn. Ends as `pipelined` does (2).
 */
export async function partByPart<Row, Made>(
  rows: readonly Row[],
  size: number,
  make: (part: readonly Row[]) => Made,
  write: (made: Made) => Promise<unknown>,
): Promise<Made[]> {
  const made: Made[] = [];
  const writes: Promise<unknown>[] = [];
  try {
    for (let at = 0; at < rows.length; at += size) {
      const part = make(rows.slice(at, at + size));
      made.push(part);
      const written = write(part);
      written.catch(() => undefined); // it may fail while the next part is made, when nobody waits for it yet
      writes.push(written);
      await nextTurn(); // what was written leaves for the database
    }
    await Promise.all(writes);
    return made;
  } finally {
    await Promise.allSettled(writes);
  }
}
