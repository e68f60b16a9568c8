/** The root keys that are on this machine: named, or lying beside the context's release key as `init` left them. */
import { dirname, join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import type { RootSet } from "../../core/snapshot/trust-bundle.ts";
import { isMissing } from "../../host/file-errors.ts";
import { nodeFileSystem } from "../../host/file-system-port.ts";
import type { Signer } from "../../trust/keys.ts";
import { readSigner, rsaAlgorithmIn } from "../operator-files.ts";

const ROOT_FILE = /^root-[A-Za-z0-9._-]+\.pem$/;

export async function rootSigners(
  flag: string,
  files: readonly string[],
  releaseKeyFile: string | null,
  root: RootSet,
): Promise<[Signer, ...Signer[]]> {
  const paths = files.length > 0 ? files : await besideReleaseKey(releaseKeyFile);
  const found = new Map<string, Signer>();
  for (const path of paths) {
    const signer = await readSigner(flag, path, rsaAlgorithmIn(root.keys));
    const { key_id } = signer.record;
    if (root.keys.some((key) => key.key_id === key_id)) found.set(key_id, signer);
    else if (files.length > 0)
      throw new FairleadError("INVALID_INPUT", `${flag} ${path}: not a root key of this site`, {
        field: flag,
      });
  }
  const [first, ...rest] = found.values();
  if (first === undefined)
    throw new FairleadError("INVALID_INPUT", `no root key of this site is here: name one with ${flag} FILE`, {
      field: flag,
    });
  return [first, ...rest];
}

async function besideReleaseKey(releaseKeyFile: string | null): Promise<string[]> {
  if (releaseKeyFile === null) return [];
  const folder = dirname(releaseKeyFile);
  try {
    const names = (await nodeFileSystem.readdir(folder)).filter((name) => ROOT_FILE.test(name));
    return names.toSorted().map((name) => join(folder, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
