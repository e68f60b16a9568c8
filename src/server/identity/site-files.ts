/**
 * The key files that every replica of a site shares. They are made once, by the first server; a second one that made its
 * own would be a stranger to every agent and operator.
 *
 * 1. A site that has begun is never given new keys: what is missing here is named, with where to get it.
 * 2. Of two servers that begin a site at once on folders of their own, one wins and the other says so.
 */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import type { KeyId } from "../../core/ids.ts";
import { isMissing } from "../../host/file-errors.ts";
import type { Database } from "../db/database.ts";
import type { SignerStore } from "../keys/signer-store.ts";
import { SITE_CA_FILE } from "./site-ca.ts";

const TOKEN_KEY_FILE = "operator-token-key.pem";

/** Before anything is made here. */
export async function refuseWithoutSiteFiles(
  db: Database,
  keysDir: string,
  store: SignerStore,
): Promise<void> {
  const [site] = await db<{ ca_pin: string | null; token_key_id: string | null; initialized: boolean }[]>`
    select ca_pin, token_key_id, exists (select 1 from trust_bundles) as initialized from clusters`;
  if (site === undefined) return;
  const needed = [
    ...(site.ca_pin !== null || site.initialized ? [SITE_CA_FILE] : []),
    ...(site.token_key_id !== null || site.initialized ? [TOKEN_KEY_FILE] : []),
  ];
  const missing = [];
  for (const name of needed) if (!(await isThere(join(keysDir, name)))) missing.push(name);
  missing.push(...(await missingOnlineKeys(db, store)));
  if (missing.length === 0) return;
  throw new FairleadError(
    "SITE_KEYS_MISSING",
    `${keysDir} lacks key files of this site: ${missing.join(", ")}`,
    { missing },
  ); // (1)
}

/** After they are loaded: says whose they are, or finds that they are not this site's. */
export async function claimSiteFiles(db: Database, keysDir: string, own: SiteFiles): Promise<void> {
  const [row] = await db<{ ca_pin: string; token_key_id: string }[]>`
    update clusters set ca_pin = coalesce(ca_pin, ${own.caPin}),
      token_key_id = coalesce(token_key_id, ${own.tokenKeyId})
    returning ca_pin, token_key_id`;
  const foreign = [
    ...(row!.ca_pin === own.caPin ? [] : [SITE_CA_FILE]),
    ...(row!.token_key_id === own.tokenKeyId ? [] : [TOKEN_KEY_FILE]),
  ];
  if (foreign.length === 0) return;
  throw new FairleadError(
    "SITE_KEYS_MISSING",
    `${keysDir} holds key files of another site or server: ${foreign.join(", ")}`,
    { foreign },
  ); // (2)
}

export interface SiteFiles {
  readonly caPin: string;
  readonly tokenKeyId: string;
}

async function missingOnlineKeys(db: Database, store: SignerStore): Promise<string[]> {
  const rows = await db<{ key_id: KeyId }[]>`
    select key_id from signing_keys where authority = 'online' and state = 'active'`;
  const held = await store.load();
  return rows.filter(({ key_id }) => !held.has(key_id)).map(({ key_id }) => onlineKeyName(key_id));
}

/** The first key has the plain name, later ones carry their id. */
const onlineKeyName = (keyId: KeyId): string =>
  `online-key.pem or online-key-${keyId.slice(0, 16)}.pem (key ${keyId.slice(0, 12)})`;

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
