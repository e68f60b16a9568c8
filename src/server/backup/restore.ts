/**
 * `fairlead restore`: a site out of one file, onto an empty place.
 *
 * 1. Everything that can be refused is refused before anything is written: a damaged file, and one that this site's CA
 *    did not sign.
 * 2. What was begun and not finished is taken away again.
 */
import { FairleadError } from "../../core/errors.ts";
import { systemClock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import { readSiteRoot, SITE_CA_FILE, siteRootOf } from "../identity/site-ca.ts";
import { refuseUntrusted, type Anchor } from "./authenticity.ts";
import type { Said } from "./backup.ts";
import { checkBackup, type CheckedBackup } from "./check.ts";
import { openKeys, placeKeys, readPassphrase, type KeyFiles } from "./keys.ts";
import { loadSite, refuseNonEmpty, refuseOtherLevel } from "./load.ts";
import { needed, type BackupOptions } from "./options.ts";
import { openNewSite, type SiteDatabase } from "./site-database.ts";

export async function runRestore(options: BackupOptions, log: Logger): Promise<Said> {
  const path = needed(options.file, "the FILE to restore");
  const backup = await checkBackup(path);
  const keys = await keysOf(backup, options);
  const anchors = await anchorsOf(keys, options);
  if (!options.check || anchors.length > 0) refuseUntrusted(path, backup.signer, anchors); // (1)
  if (options.check) return checked(path, backup, anchors);
  await refuseOtherLevel(backup.manifest);
  const place = needed(options.place, "--data-dir DIR or --database-url URL");
  const site = await openNewSite(place, log);
  let undoKeys: () => Promise<void> = async () => undefined;
  try {
    await refuseNonEmpty(site.db); // (1)
    if (keys !== null) undoKeys = await placeKeys(needed(options.keysDir, "--keys-dir DIR"), keys);
    await loadSite(site.db, path, backup.manifest, systemClock.now());
  } catch (error) {
    await undoKeys(); // (2)
    await discard(site, error);
    throw error;
  }
  await site.close();
  return said(backup, keys, options);
}

/** A place that somebody else's site is in stays as it is. */
async function discard(site: SiteDatabase, error: unknown): Promise<void> {
  const isOthers = error instanceof FairleadError && error.code === "SITE_NOT_EMPTY";
  await (isOthers ? site.close() : site.discard());
}

async function keysOf(
  { manifest, keys }: CheckedBackup,
  { passphraseFile }: BackupOptions,
): Promise<KeyFiles | null> {
  if (keys === null || passphraseFile === null) return null;
  return openKeys(keys, await readPassphrase(passphraseFile), manifest.cluster_id);
}

/** Every place that knows the site's CA without having it from the file in clear. */
async function anchorsOf(keys: KeyFiles | null, { caPin, keysDir }: BackupOptions): Promise<Anchor[]> {
  const anchors: Anchor[] = caPin === null ? [] : [{ source: "--ca-pin", pin: caPin }];
  const inFolder = keysDir === null ? null : await readSiteRoot(keysDir);
  if (inFolder !== null) anchors.push({ source: `${SITE_CA_FILE} in ${keysDir}`, pin: inFolder.pin });
  const sealed = keys?.find(({ path }) => path === SITE_CA_FILE);
  if (sealed !== undefined) {
    const { pin } = siteRootOf(SITE_CA_FILE, Buffer.from(sealed.content, "base64").toString("utf8"));
    anchors.push({ source: "the key files that the passphrase opened", pin });
  }
  return anchors;
}

function checked(path: string, { manifest, signer }: CheckedBackup, anchors: readonly Anchor[]): Said {
  const { cluster_id, created_at, version, keys } = manifest;
  const whose =
    anchors.length > 0
      ? `It is signed by the site's CA, as ${anchors.map(({ source }) => source).join(" and ")} says.`
      : `It is signed by the CA ${signer}. Whether that is your site's was not compared: add --ca-pin, --keys-dir or --passphrase-file.`;
  const text = `${path} is whole: site ${cluster_id} of ${created_at}, written by Fairlead ${version}, ${keys === null ? "without" : "with"} key files\n${whose}\n`;
  return { text, json: { file: path, ca_pin: signer, authenticated: anchors.length > 0, manifest } };
}

function said({ manifest }: CheckedBackup, keys: KeyFiles | null, { keysDir }: BackupOptions): Said {
  const lines = [
    `restored site ${manifest.cluster_id} as of ${manifest.created_at}`,
    keys === null
      ? `Put the site's key files into ${keysDir ?? "the keys folder"} (mode 0600) before you start the server.`
      : `${keys.length} key files are in ${keysDir}.`,
    "Nodes and API keys that were revoked after the backup are not revoked any more: revoke them again first.",
    "Enrollment tokens that were not used by then are void, and webhooks that still waited are not sent.",
    "Rollouts that were under way are paused. Nodes refuse this site until its epoch is new.",
    "next: start the server, then: fairlead authority new-epoch --reason database_restored",
  ];
  return { text: `${lines.join("\n")}\n`, json: { manifest, keys: keys?.map(({ path }) => path) ?? null } };
}
