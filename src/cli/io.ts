/** What the CLI has of the world: streams, environment, time and chance. A test hands in its own. */
import type { Readable } from "node:stream";

export interface Screen {
  write(text: string): void;
  readonly isTTY: boolean;
}

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Buffer;
  readonly randomUuid: () => string;
  /** Redraws in place; null where that cannot be: no terminal, or one that does not know its size. */
  readonly redraw: (() => Promise<Redraw>) | null;
}

export interface Redraw {
  /** How wide the terminal is now. */
  columns(): number;
  show(text: string): void;
  /** Leaves the last picture standing. */
  done(): void;
}
