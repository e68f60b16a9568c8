import { spawnSync } from "node:child_process";
import { inRoot } from "../root.mjs";

/** Its output; an exception with all that it said where it fails. */
export function demand(file: string, args: readonly string[], cwd = inRoot(".")): Buffer {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, maxBuffer: 512 * 1024 * 1024 });
  if (error !== undefined) throw new Error(`${file} was not started`, { cause: error });
  if (status === 0) return stdout;
  throw new Error(
    `${file} ${args.join(" ")} ended with ${status}:\n${stdout.toString()}${stderr.toString()}`,
  );
}
