// A temporary folder for one stage of `npm test`. All that its tests start names this folder, and can be found by it.
//
// 1. Tests that are interrupted run no hook of theirs: the runner itself takes away what they started.
// 2. Stages that run beside each other have folders of their own: the end of one leaves the other alone.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inRoot } from "../root.mjs";
import { temporaryFolder } from "./temporary-folder.ts";

export const STAGE_FOLDER_VARIABLE = "FAIRLEAD_TEST_FOLDER";

export async function inStageFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  // Short: sockets lie below it. Other accounts pass through: PostgreSQL runs under one of them.
  const folder = mkdtempSync(join(temporaryFolder(), "fl-"));
  chmodSync(folder, 0o755);
  try {
    return await work(folder);
  } finally {
    await sweep(folder); // (1)
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a session of its own, and no signal is passed on to it: a second Ctrl-C must not end the cleaning up. */
async function sweep(folder: string): Promise<void> {
  const script = inRoot("test/support/sweep.ts");
  const child = spawn(process.execPath, [script, folder], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", 2, 2],
  });
  await once(child, "exit");
}
