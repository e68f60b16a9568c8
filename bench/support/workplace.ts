/**
 * Where a benchmark works: one temporary folder, and a list of what to undo.
 *
 * 1. Whatever was started is stopped and the folder removed, also after a failure or a signal.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Shutdown } from "../../src/host/shutdown.ts";

export interface Options {
  /** Nodes of the large rollout. */
  readonly nodes: number;
  /** The server writes its CPU profile here when it leaves. */
  readonly cpuProfileDir: string | null;
}

export interface Workplace {
  readonly folder: string;
  readonly options: Options;
  /** Aborted by Ctrl-C: what only runs to its end ends then. */
  readonly signal: AbortSignal;
  /** Progress, for people: stdout is the result's. */
  say(text: string): void;
  /** Registered last, undone first. */
  undo(name: string, cleanup: () => Promise<void> | void): void;
}

export async function withWorkplace<T>(
  shutdown: Shutdown,
  options: Options,
  work: (place: Workplace) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-bench-"));
  await chmod(folder, 0o711); // PostgreSQL's own account passes through it
  const cleanups: { readonly name: string; readonly cleanup: () => Promise<void> | void }[] = [];
  const say = (text: string): void => void process.stderr.write(`bench: ${text}\n`);

  async function drain(): Promise<void> {
    for (let next = cleanups.pop(); next !== undefined; next = cleanups.pop()) {
      const { name, cleanup } = next;
      await Promise.resolve(cleanup()).catch((error: unknown) => say(`${name}: ${String(error)}`));
    }
  }

  // A signal and the failure that it causes both come here: the second waits for the first.
  let undone = Promise.resolve();
  const undoAll = (): Promise<void> => (undone = undone.then(drain));

  const forget = shutdown.onShutdown("workplace", undoAll); // (1)
  cleanups.push({ name: "folder", cleanup: () => rm(folder, { recursive: true, force: true }) });
  try {
    return await work({
      folder,
      options,
      signal: shutdown.signal,
      say,
      undo: (name, cleanup) => void cleanups.push({ name, cleanup }),
    });
  } finally {
    await undoAll();
    forget();
  }
}
