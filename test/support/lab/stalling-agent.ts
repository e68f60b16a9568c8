/**
 * The agent from its source, with one difference: at one point of an upgrade it stops as if time stood still, so that
 * a test can SIGKILL it there. The bundle that nodes run has no such hook.
 */
import { readFile } from "node:fs/promises";
import { writeFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { runAgent } from "../../../src/agent/agent.ts";
import { loadConfig } from "../../../src/agent/config.ts";
import type { ActionName } from "../../../src/core/upgrade/phases.ts";
import { FAIRLEAD } from "../../../src/demo/command.ts";
import { systemClock } from "../../../src/host/clock.ts";
import type { FileSystemPort } from "../../../src/host/file-system-port.ts";
import { ensureDirectory } from "../../../src/host/files.ts";
import { acquireLock } from "../../../src/host/lock-file.ts";
import { createLogger } from "../../../src/host/log.ts";
import { trippingFileSystem } from "../programs/tripping-file-system.ts";

export type StallPoint =
  /** When the checkpoint on disk says that the action is done. */
  | { readonly after: ActionName }
  /** File operations waited for in order: before the last of them happens. */
  | { readonly before: readonly string[] };

export interface StallSpec {
  readonly config: string;
  readonly point: StallPoint;
  /** Written when the point is reached. */
  readonly marker: string;
}

async function main(spec: StallSpec): Promise<void> {
  const config = await loadConfig(spec.config);
  await ensureDirectory(config.data_dir, 0o700);
  const lock = await acquireLock(config.data_dir, "agent");
  if (lock.kind === "held") throw new Error("another agent runs");
  await runAgent({
    config,
    shimCommand: [process.execPath, FAIRLEAD, "agent", "shim"],
    clock: systemClock,
    log: createLogger({ level: "info" }),
    signal: new AbortController().signal,
    fs: stallingFileSystem(spec.point, () => stall(spec.marker)),
  });
}

function stallingFileSystem(point: StallPoint, stop: () => Promise<void>): FileSystemPort {
  const expected = "before" in point ? point.before.map((text) => new RegExp(text)) : [];
  const fs = trippingFileSystem(async (operation) => {
    if (expected[0]?.test(operation) !== true) return;
    expected.shift();
    if (expected.length === 0) await stop();
  });
  if ("before" in point) return fs;
  return {
    ...fs,
    rename: async (from, to) => {
      await fs.rename(from, to);
      if (!to.includes("/upgrades/active/")) return;
      const { done } = JSON.parse(await readFile(to, "utf8")) as { done: string[] };
      if (done.includes(point.after)) await stop();
    },
  };
}

async function stall(marker: string): Promise<void> {
  flushCompileCache(); // written at the end of a process otherwise, to which this one does not come
  writeFileSync(marker, "");
  process.kill(process.pid, "SIGSTOP");
  await new Promise(() => setInterval(() => undefined, 60_000)); // should a signal wake it up
}

await main(JSON.parse(process.argv[2]!) as StallSpec);
