/**
 * Who may initialise a new server: whoever can read one file on its machine.
 * The file is there from the first start until the trust bundle is stored.
 */
import { FairleadError } from "../../core/errors.ts";
import { removeDurable } from "../../host/durable-write.ts";
import { readBoundedIfThere } from "../../host/files.ts";
import { equalSecret } from "../../trust/digest.ts";
import type { Database, Queryable } from "../db/database.ts";
import { loadOrCreateKeyFile } from "../identity/key-file.ts";
import { newSecret } from "./secrets.ts";

const secretBytesMax = 1_024;

/** Its path while the cluster waits for its first trust bundle, else null. A file left by a crash is removed. */
export async function prepareFirstRun(db: Database, path: string): Promise<string | null> {
  if (await isInitialized(db)) {
    await removeDurable(path);
    return null;
  }
  await loadOrCreateKeyFile(path, () => `${newSecret()}\n`);
  return path;
}

export async function isInitialized(db: Queryable): Promise<boolean> {
  const rows = await db`select 1 from trust_bundles limit 1`;
  return rows.length > 0;
}

export async function checkFirstRun(db: Database, path: string, claimed: string): Promise<void> {
  if (await isInitialized(db)) throw alreadyInitialized();
  const secret = (await readBoundedIfThere(path, secretBytesMax))?.toString("utf8").trim();
  // Without the file nobody gets in, an empty claim least of all.
  if (secret !== undefined && secret !== "" && equalSecret(secret, claimed)) return;
  throw new FairleadError("FIRST_RUN_SECRET_WRONG", "this is not the server's first-run secret");
}

export const alreadyInitialized = (): FairleadError =>
  new FairleadError("ALREADY_INITIALIZED", "this cluster has its trust bundle already");
