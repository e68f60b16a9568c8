/**
 * Who the machine is at the registry: a file of its operator's, read at each pull so that it can be renewed, and handed
 * to the engine with that one request.
 */
import { z } from "zod";
import { FairleadError } from "../../../../core/errors.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { readJson } from "../../../../host/files.ts";

const RegistryAuth = z.union([
  z.strictObject({ username: z.string(), password: z.string() }),
  z.strictObject({ identitytoken: z.string() }),
]);

const OTHERS = 0o077;

/** Codes: NOT_FOUND, INVALID_INPUT, and PATH_REFUSED for a file that others can read. */
export async function registryAuth(path: string | null, fs: FileSystemPort): Promise<Record<string, string>> {
  if (path === null) return {};
  const auth = await readJson(path, RegistryAuth, fs);
  if (((await fs.lstat(path)).mode & OTHERS) !== 0)
    throw new FairleadError("PATH_REFUSED", `${path} can be read by others than its owner`);
  const text = Buffer.from(JSON.stringify(auth)).toString("base64");
  // The alphabet of URLs, but padded: an engine that cannot read it goes on as nobody.
  return { "x-registry-auth": text.replaceAll("+", "-").replaceAll("/", "_") };
}
