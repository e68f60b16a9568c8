import { open } from "node:fs/promises";
import { spawnDetached } from "../../../../host/process.ts";
import type { ProcessIdentity } from "../../../../host/process-identity.ts";
import { shimLogPath } from "../../../shim/files.ts";

/** In a session of its own, with no pipe to us: our end is not its end. */
export async function spawnShim(
  [file, ...args]: readonly string[],
  folder: string,
): Promise<ProcessIdentity> {
  const log = await open(shimLogPath(folder), "a", 0o600);
  try {
    return await spawnDetached(file!, [...args, folder], { cwd: "/", stdio: ["ignore", log.fd, log.fd] });
  } finally {
    await log.close();
  }
}
