// A temporary folder for one run of `npm test`. All that its tests start names this folder, and can be found by it.
//
// 1. Tests that are interrupted run no hook of theirs: the runner itself takes away what they started.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inRoot } from "../root.mjs";
import { temporaryFolder } from "./temporary-folder.ts";

export const RUN_FOLDER_VARIABLE = "FAIRLEAD_TEST_FOLDER";

let made: string | undefined;

/** Short: sockets lie below it. Other accounts pass through: PostgreSQL runs under one of them. */
export function runFolder(): string {
  if (made !== undefined) return made;
  made = mkdtempSync(join(temporaryFolder(), "fl-"));
  chmodSync(made, 0o755);
  return made;
}

export async function sweep(): Promise<void> {
  if (made === undefined) return;
  // In a session of its own, and no signal is passed on to it: a second Ctrl-C must not end the cleaning up.
  const script = inRoot("test/support/sweep.ts");
  const child = spawn(process.execPath, [script, made], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", 2, 2],
  });
  await once(child, "exit");
}

export function removeRunFolder(): void {
  if (made !== undefined) rmSync(made, { recursive: true, force: true });
  made = undefined;
}
