/** One call of a command and what comes of it. How it is shown is run.ts's business. */
import type { Io } from "./io.ts";
import type { Paint } from "./output.ts";

export interface Call {
  readonly io: Io;
  readonly json: boolean;
  readonly paint: Paint;
  /** What `--context` named; undefined is the current one. */
  readonly context: string | undefined;
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Result {
  /** The one document of `--json`. */
  readonly data: unknown;
  /** For people, on stdout. */
  readonly text: string;
  /** For people, on stderr: what is not the result itself. */
  readonly notes?: string;
  /** 0 unless the outcome itself is worth a code, as with `rollout wait`. */
  readonly exit?: number;
}
