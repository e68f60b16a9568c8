/**
 * Many callers, one statement: items that arrive together are written or looked up together.
 * A caller's promise settles when its own batch is durable, so "accepted" always means stored.
 */
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
      const results = await work(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      atWork -= 1;
      schedule();
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
