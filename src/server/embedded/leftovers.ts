/**
 * What a run that was killed left behind: recorded while it runs, ended by the next one.
 * Processes are ended by identity, never by name.
 */
import { join } from "node:path";
import { z } from "zod";
import { readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import type { Logger } from "../../host/log.ts";
import { isAlive, ProcessIdentity, stopProcess } from "../../host/process-identity.ts";

const Children = z.partialRecord(z.enum(["postgres", "restate"]), ProcessIdentity);
export type Children = z.infer<typeof Children>;

/** A leftover's parent is dead, and with it every client: politeness gets a moment, no more. */
const GRACE_MS = 2_000;

const fileIn = (home: string): string => join(home, "children.json");

export const readChildren = async (home: string): Promise<Children> =>
  (await readJsonIfThere(fileIn(home), Children)) ?? {};

export const recordChildren = async (home: string, children: Children): Promise<void> =>
  writeJsonDurable(fileIn(home), children);

export async function endLeftovers(home: string, log: Logger): Promise<void> {
  const children = Object.entries(await readChildren(home));
  await Promise.all(
    children.map(async ([name, identity]) => {
      if (!isAlive(identity)) return;
      log.warn("ending program of an earlier run", { program: name, pid: identity.pid });
      await stopProcess(identity, { graceMs: GRACE_MS });
    }),
  );
  await recordChildren(home, {});
}
