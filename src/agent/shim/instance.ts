/** Claims the next instance id `{key}.{n}`: whatever crashes afterwards, no process of that id is spawned again. */
import { join } from "node:path";
import { createExclusive, removeDurable } from "../../host/durable-write.ts";
import { type FileSystemPort, nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory } from "../../host/files.ts";
import { claimsPath } from "./files.ts";

export async function claimInstance(
  folder: string,
  key: string,
  at: string,
  fs: FileSystemPort = nodeFileSystem,
): Promise<string> {
  const claims = claimsPath(folder);
  await ensureDirectory(claims, 0o700, fs);
  for (;;) {
    const numbers = numbersOf(key, await fs.readdir(claims));
    const next = Math.max(0, ...numbers) + 1;
    const claim = await createExclusive(join(claims, `${key}.${next}`), at, { fs });
    if (claim.kind === "exists") continue;
    // The highest stays, so numbers only go up; the others have done their duty.
    for (const old of numbers) await removeDurable(join(claims, `${key}.${old}`), fs);
    return `${key}.${next}`;
  }
}

function numbersOf(key: string, names: readonly string[]): number[] {
  return names
    .filter((name) => name.startsWith(`${key}.`))
    .map((name) => name.slice(key.length + 1))
    .filter((rest) => /^[1-9]\d{0,14}$/.test(rest))
    .map(Number);
}
