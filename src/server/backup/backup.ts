/** `fairlead backup`: a site, running or not, into one file. */
import { access } from "node:fs/promises";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId } from "../../core/ids.ts";
import { systemClock } from "../../host/clock.ts";
import { isMissing } from "../../host/file-errors.ts";
import type { Logger } from "../../host/log.ts";
import { dumpSite } from "./dump.ts";
import { readPassphrase, sealKeys } from "./keys.ts";
import type { BackupManifest } from "./manifest.ts";
import { needed, type BackupOptions } from "./options.ts";
import { openSite } from "./site-database.ts";

export interface Said {
  readonly text: string;
  readonly json: unknown;
}

export async function runBackup(options: BackupOptions, log: Logger): Promise<Said> {
  const path = needed(options.out, "--out FILE");
  const place = needed(options.place, "--data-dir DIR or --database-url URL");
  await refuseExisting(path);
  const sealedKeys = options.withKeys ? await sealer(options) : null;
  const site = await openSite(place, log);
  try {
    const manifest = await dumpSite(site.db, { path, now: systemClock.now(), sealedKeys });
    return said(path, manifest, options);
  } finally {
    await site.close();
  }
}

async function sealer(options: BackupOptions): Promise<(clusterId: ClusterId) => Promise<Buffer>> {
  const keysDir = needed(options.keysDir, "--keys-dir DIR");
  const passphrase = await readPassphrase(needed(options.passphraseFile, "--passphrase-file FILE"));
  return (clusterId) => sealKeys(keysDir, passphrase, clusterId);
}

function said(path: string, manifest: BackupManifest, { keysDir }: BackupOptions): Said {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const keys =
    manifest.keys === null
      ? `Its key files are not in it. Without them the site cannot be brought back: keep ${keysDir ?? "the keys folder"} elsewhere, or use --with-keys.`
      : "Its key files are in it, sealed under the passphrase. Whoever has both has the site: keep them apart.";
  const lines = [
    `wrote ${path}: site ${manifest.cluster_id}, ${manifest.tables.length} tables, ${rows} rows, epoch ${manifest.epoch}`,
    keys,
    "Root and release keys are on operators' machines and in no backup of the site.",
    `next: fairlead restore --check ${path}`,
  ];
  return { text: `${lines.join("\n")}\n`, json: { file: path, manifest } };
}

async function refuseExisting(path: string): Promise<void> {
  try {
    await access(path);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  throw new FairleadError("INVALID_INPUT", `${path} exists already: a backup replaces nothing`);
}
