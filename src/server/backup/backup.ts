/** `fairlead backup`: a site, running or not, into one file. */
import { access } from "node:fs/promises";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId } from "../../core/ids.ts";
import { systemClock } from "../../host/clock.ts";
import { isMissing } from "../../host/file-errors.ts";
import type { Logger } from "../../host/log.ts";
import { readSiteRoot, SITE_CA_FILE, type SiteRoot } from "../identity/site-ca.ts";
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
  const keysDir = needed(options.keysDir, "--keys-dir DIR");
  await refuseExisting(path);
  const root = await siteRootIn(keysDir);
  const sealedKeys = options.withKeys ? await sealer(keysDir, options) : null;
  const site = await openSite(place, log);
  try {
    const manifest = await dumpSite(site.db, { path, now: systemClock.now(), root, sealedKeys });
    return said(path, manifest, root, keysDir);
  } finally {
    await site.close();
  }
}

/** The key that signs the backup; made by the site's first server, never here. */
async function siteRootIn(keysDir: string): Promise<SiteRoot> {
  const root = await readSiteRoot(keysDir);
  if (root !== null) return root;
  throw new FairleadError(
    "SITE_KEYS_MISSING",
    `${keysDir} lacks ${SITE_CA_FILE}, whose key signs the backup: name the site's keys folder with --keys-dir`,
    { missing: [SITE_CA_FILE] },
  );
}

async function sealer(
  keysDir: string,
  options: BackupOptions,
): Promise<(clusterId: ClusterId) => Promise<Buffer>> {
  const passphrase = await readPassphrase(needed(options.passphraseFile, "--passphrase-file FILE"));
  return (clusterId) => sealKeys(keysDir, passphrase, clusterId);
}

function said(path: string, manifest: BackupManifest, { pin }: SiteRoot, keysDir: string): Said {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const keys =
    manifest.keys === null
      ? `Its key files are not in it. Without them the site cannot be brought back: keep ${keysDir} elsewhere, or use --with-keys.`
      : "Its key files are in it, sealed under the passphrase. Whoever has both has the site: keep them apart.";
  const lines = [
    `wrote ${path}: site ${manifest.cluster_id}, ${manifest.tables.length} tables, ${rows} rows, epoch ${manifest.epoch}`,
    keys,
    "Root and release keys are on operators' machines and in no backup of the site.",
    `It is signed by the site's CA, pin ${pin}. Keep the pin apart from the file: \`fairlead context show\` prints it too.`,
    `next: fairlead restore --check ${path} --ca-pin ${pin}`,
  ];
  return { text: `${lines.join("\n")}\n`, json: { file: path, ca_pin: pin, manifest } };
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
