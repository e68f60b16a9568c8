/**
 * Work on many nodes in one transaction that goes on when one of them fails.
 *
 * 1. A part that fails is undone to its savepoint and halved until the failing node is alone.
 * 2. Only an error that comes again with the same rows is the node's: a lost connection, a deadlock, a timeout or a
 *    replica that cannot sign fails the whole step, which is tried again.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Transaction } from "../db/database.ts";
import { isOfReplica } from "../snapshots/authority.ts";

export interface Isolated<Item, Made> {
  readonly made: readonly Made[];
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[];
}

export async function isolated<Item, Made>(
  tx: Transaction,
  items: readonly Item[],
  work: (tx: Transaction, items: readonly Item[]) => Promise<readonly Made[]>,
): Promise<Isolated<Item, Made>> {
  if (items.length === 0) return { made: [], failed: [] };
  try {
    const made = await tx.savepoint(async (part) => work(part, items));
    return { made, failed: [] };
  } catch (error) {
    if (!isOfRows(error)) throw error; // (2)
    if (items.length === 1) return { made: [], failed: [{ item: items[0]!, error }] };
    const half = Math.ceil(items.length / 2); // (1)
    const first = await isolated(tx, items.slice(0, half), work);
    const second = await isolated(tx, items.slice(half), work);
    return { made: [...first.made, ...second.made], failed: [...first.failed, ...second.failed] };
  }
}

/** Of PostgreSQL's error classes: bad data, a violated constraint, an exception that a trigger raised. */
const CLASSES_OF_ROWS = ["22", "23", "P0"];

function isOfRows(error: unknown): boolean {
  if (error instanceof FairleadError) return !isOfReplica(error);
  const { code } = error as { readonly code?: unknown };
  return typeof code !== "string" || CLASSES_OF_ROWS.includes(code.slice(0, 2));
}
