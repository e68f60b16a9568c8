/**
 * Items of many callers share one statement: items that arrive together are written or looked up together.
 *
 * 1. A caller's promise settles when its own batch is durable, so "accepted" always means stored.
 * 2. An item that the database refuses fails alone: a batch that fails is split in two until the item stands by itself.
 *    Work must therefore be safe to repeat.
 * 3. A failure of the database as a whole fails the batch as it is: more statements would only add to its load.
 */
import { isDatabaseTrouble } from "../db/trouble.ts";

export interface BatchOptions {
  /** All of a batch are answered in one turn of the event loop: a large one keeps everybody else waiting. */
  readonly itemsMax: number;
  /** How long the first of a batch waits for company. */
  readonly lingerMs: number;
  /** Batches at work at once; the next gathers meanwhile. */
  readonly concurrentMax: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatcher<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  options: BatchOptions,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let timer: NodeJS.Timeout | null = null;
  let atWork = 0;

  function schedule(): void {
    if (waiting.length === 0 || atWork >= options.concurrentMax) return;
    if (waiting.length >= options.itemsMax) return void flush();
    timer ??= setTimeout(() => void flush(), options.lingerMs);
  }

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const batch = waiting.slice(0, options.itemsMax);
    waiting = waiting.slice(options.itemsMax);
    atWork += 1;
    try {
      await settle(batch);
    } finally {
      atWork -= 1;
      schedule();
    }
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    let results: readonly Result[];
    try {
      results = await work(batch.map(({ item }) => item));
    } catch (error) {
      if (batch.length > 1 && !isDatabaseTrouble(error)) return settleHalves(batch); // (2)
      for (const { reject } of batch) reject(error); // (3)
      return;
    }
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]!); // (1)
  }

  async function settleHalves(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await settle(batch.slice(0, middle));
    await settle(batch.slice(middle));
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
