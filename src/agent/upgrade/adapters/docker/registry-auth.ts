/**
 * Who the machine is at a registry: a file of its operator's, read at each pull so that it can be renewed, and handed
 * to the engine with that one request. The file names its registry: the control plane chooses among the listed
 * repositories, and must not choose who gets to see the password.
 */
import { z } from "zod";
import { FairleadError } from "../../../../core/errors.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { readJson } from "../../../../host/files.ts";

/** A host with its port, or a part of what it holds: `ghcr.io`, `ghcr.io/example`. */
const registry = z.string().regex(/^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(\/[a-z0-9._-]+)*$/);

const RegistryAuth = z.union([
  z.strictObject({ registry, username: z.string(), password: z.string() }),
  z.strictObject({ registry, identitytoken: z.string() }),
]);

const OTHERS = 0o077;

/** Codes: FILE_NOT_FOUND, INVALID_INPUT, and PATH_REFUSED for a file that others can read. */
export async function registryAuth(
  path: string | null,
  repository: string,
  fs: FileSystemPort,
): Promise<Record<string, string>> {
  if (path === null) return {};
  const { registry: mine, ...auth } = await readJson(path, RegistryAuth, fs);
  if (((await fs.lstat(path)).mode & OTHERS) !== 0)
    throw new FairleadError("PATH_REFUSED", `${path} can be read by others than its owner`);
  if (!repository.startsWith(`${mine}/`) && repository !== mine) return {};
  const text = Buffer.from(JSON.stringify(auth)).toString("base64");
  // The alphabet of URLs, but padded: an engine that cannot read it goes on as nobody.
  return { "x-registry-auth": text.replaceAll("+", "-").replaceAll("/", "_") };
}
