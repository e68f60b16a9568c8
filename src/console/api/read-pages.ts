/** Reads a list to its end or to a bound, and says which of the two it was. */
import { LIMITS } from "../../core/limits.ts";

export interface Pages<T> {
  readonly items: readonly T[];
  /** False: there are more than the bound, and a count over `items` is not a count over all. */
  readonly isComplete: boolean;
  /** The server's time of the first page, in whole seconds: whatever happened earlier is contained. */
  readonly asOf: number;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
  readonly asOf: number;
}

export async function readPages<T>(
  itemsMax: number,
  readPage: (query: string) => Promise<Page<T>>,
): Promise<Pages<T>> {
  const first = await readPage(queryOf(null));
  const items = [...first.items];
  let cursor = first.next;
  while (cursor !== null && items.length < itemsMax) {
    const page = await readPage(queryOf(cursor));
    items.push(...page.items);
    cursor = page.next;
  }
  return { items, isComplete: cursor === null, asOf: first.asOf };
}

function queryOf(cursor: string | null): string {
  const query = new URLSearchParams({ limit: String(LIMITS.listPageMax) });
  if (cursor !== null) query.set("cursor", cursor);
  return query.toString();
}
