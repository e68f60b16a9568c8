/**
 * One process at a time in a data folder, also after a crash.
 *
 * A lock is a row of numbered files `NAME.lock.N`; the highest number is the holder's.
 * 1. A number is claimed by exclusive creation, and only above a holder that has released or died.
 * 2. The highest file is never removed, so numbers only go up and a slow claimer cannot reuse one.
 * 3. Whoever claimed a number and then sees a higher one has lost: he was late, and steps back.
 */
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import { createExclusive, removeDurable } from "./durable-write.ts";
import { isMissing } from "./file-errors.ts";
import { readJsonIfThere, writeJsonDurable } from "./files.ts";
import { nodeFileSystem } from "./file-system-port.ts";
import { identityOf, isAlive, ProcessIdentity } from "./process-identity.ts";

const Claim = z.object({ holder: ProcessIdentity.nullable() });

export type Lock =
  | { readonly kind: "acquired"; release(): Promise<void> }
  | { readonly kind: "held"; readonly by: ProcessIdentity };

export async function acquireLock(directory: string, name: string): Promise<Lock> {
  const holder = identityOf(process.pid);
  if (holder === undefined) throw new FairleadError("INTERNAL", "this process cannot see itself in /proc");
  const pathOf = (number: number): string => join(directory, `${name}.lock.${number}`);

  for (;;) {
    const numbers = await claimedNumbers(directory, name);
    const highest = numbers.at(-1) ?? 0;
    const claim = highest === 0 ? undefined : await readJsonIfThere(pathOf(highest), Claim);
    if (highest !== 0 && claim === undefined) continue; // a higher one came and this one was tidied away
    if (claim?.holder && isAlive(claim.holder)) return { kind: "held", by: claim.holder }; // (1)

    const mine = highest + 1;
    const created = await createExclusive(pathOf(mine), JSON.stringify({ holder }));
    if (created.kind === "exists") continue;
    if ((await claimedNumbers(directory, name)).at(-1) !== mine) {
      await removeDurable(pathOf(mine)); // (3)
      continue;
    }
    for (const old of numbers) await removeDurable(pathOf(old)); // (2)
    return { kind: "acquired", release: async () => writeJsonDurable(pathOf(mine), { holder: null }) };
  }
}

/** The live process that holds the lock, for whoever wants to speak to it. A folder that is not there holds none. */
export async function lockHolder(directory: string, name: string): Promise<ProcessIdentity | undefined> {
  for (;;) {
    const numbers = await claimedNumbers(directory, name).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const highest = numbers.at(-1);
    if (highest === undefined) return undefined;
    const claim = await readJsonIfThere(join(directory, `${name}.lock.${highest}`), Claim);
    if (claim === undefined) continue; // tidied away by a higher one
    return claim.holder !== null && isAlive(claim.holder) ? claim.holder : undefined;
  }
}

async function claimedNumbers(directory: string, name: string): Promise<number[]> {
  const prefix = `${name}.lock.`;
  return (await nodeFileSystem.readdir(directory))
    .filter((entry) => entry.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(entry.slice(prefix.length)))
    .map((entry) => Number(entry.slice(prefix.length)))
    .toSorted((left, right) => left - right);
}
