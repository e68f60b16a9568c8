/** Mutants that survive because they mean the same as the line they change. Everything else gets a test. */
export interface Survivor {
  readonly file: string;
  /** The first line that changes, without its indentation. */
  readonly line: string;
  /** The changed part. */
  readonly was: string;
  readonly becomes: string;
  readonly because: string;
}

export const SURVIVORS: readonly Survivor[] = [];
