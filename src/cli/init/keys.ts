/**
 * The keys of a new site, made on the operator's machine and never sent anywhere.
 *
 * 1. A key file appears whole, 0600, and never in place of another.
 * 2. Keys that came to nothing are removed again: `forget` takes back what this call made, and only that.
 */
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { createExclusive, removeDurable } from "../../host/durable-write.ts";
import { isMissing } from "../../host/file-errors.ts";
import { nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory } from "../../host/files.ts";
import { generateSigner, type Signer } from "../../trust/keys.ts";

export interface SiteKeys {
  readonly roots: readonly Signer[];
  readonly release: Signer;
  readonly rootFiles: readonly string[];
  readonly releaseFile: string;
  forget(): Promise<void>;
}

const rootNames = (count: number): string[] => Array.from({ length: count }, (_, at) => `root-${at + 1}.pem`);
const RELEASE_NAME = "release.pem";

/** Asked before the server is: nothing has happened yet when the folder turns out to be in use. */
export async function refuseUsedFolder(directory: string): Promise<void> {
  const used = (await entriesOf(directory)).filter(
    (name) => name === RELEASE_NAME || /^root-\d+\.pem$/.test(name),
  );
  if (used.length > 0) throw inUse(join(directory, used[0]!));
}

export async function makeSiteKeys(directory: string, rootCount: number): Promise<SiteKeys> {
  await ensureDirectory(directory);
  const made: string[] = [];
  const forget = async (): Promise<void> => {
    for (const path of made) await removeDurable(path);
  };
  async function make(name: string): Promise<{ signer: Signer; path: string }> {
    const { signer, pem } = generateSigner();
    const path = join(directory, name);
    const claim = await createExclusive(path, pem); // (1)
    if (claim.kind === "exists") throw inUse(path);
    made.push(path);
    return { signer, path };
  }
  try {
    const roots = [];
    for (const name of rootNames(rootCount)) roots.push(await make(name));
    const release = await make(RELEASE_NAME);
    return {
      roots: roots.map(({ signer }) => signer),
      rootFiles: roots.map(({ path }) => path),
      release: release.signer,
      releaseFile: release.path,
      forget,
    };
  } catch (error) {
    await forget(); // (2)
    throw error;
  }
}

async function entriesOf(directory: string): Promise<string[]> {
  try {
    return await nodeFileSystem.readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const inUse = (path: string): FairleadError =>
  new FairleadError("INVALID_INPUT", `--keys-dir: ${path} exists already, and keys are never overwritten`, {
    path,
  });
