/**
 * This machine's own copy of the newest trust bundle of each site, beside its contexts.
 *
 * 1. It is never replaced by an older one: after a server's database was restored, it may be the newest there is.
 * 2. With it go the pins: tokens for new nodes ask for this bundle or a newer one, under its root.
 */
import { join } from "node:path";
import { LIMITS } from "../../core/limits.ts";
import { isNewer, versionOf } from "../../core/snapshot/envelope.ts";
import { writeDurable } from "../../host/durable-write.ts";
import { ensureDirectory, readBoundedIfThere } from "../../host/files.ts";
import { rootPinOf } from "../../trust/pins.ts";
import { contextStore } from "../context.ts";
import { homeOf } from "../home.ts";
import type { Io } from "../io.ts";
import type { BelievedBundle } from "./believe.ts";

export const BUNDLE_BYTES_MAX = LIMITS.snapshotContentBytesMax + 64 * 1024;

/** Context names are checked to be file names when they are stored. */
const pathOf = (env: Io["env"], context: string): string => join(homeOf(env), "bundles", `${context}.bundle`);

export const readCopy = (env: Io["env"], context: string): Promise<Buffer | undefined> =>
  readBoundedIfThere(pathOf(env, context), BUNDLE_BYTES_MAX);

export async function keepCopy(
  env: Io["env"],
  context: string,
  bundle: BelievedBundle,
  before: BelievedBundle | null,
): Promise<void> {
  if (before !== null && !isNewer(versionOf(bundle.header), versionOf(before.header))) return; // (1)
  await ensureDirectory(join(homeOf(env), "bundles"));
  await writeDurable(pathOf(env, context), bundle.frame, { mode: 0o600 });
  const store = contextStore(env);
  const known = (await store.load(context)).context;
  if (known.pins === null) return;
  const pins = {
    ...known.pins,
    root_pin: rootPinOf(bundle.content.root),
    min_bundle_version: Math.max(known.pins.min_bundle_version, bundle.header.config_version),
  };
  if (JSON.stringify(pins) === JSON.stringify(known.pins)) return;
  await store.update(context, { ...known, pins }); // (2)
}
