/** Manifests as the API shows them. One that is broken is listed with its problem: it is there, and cannot be used. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { ProfileId, UpgradeId } from "../../core/ids.ts";
import type { ManifestSummary, ManifestView } from "../../core/protocol/manifest-api.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { ManifestName, ManifestReader } from "./reader.ts";

export interface ManifestFilter {
  readonly chain_profile_id?: ProfileId;
  readonly limit: number;
  readonly cursor?: string;
}

const Cursor = z.tuple([ProfileId, UpgradeId]);

export async function listManifests(
  reader: ManifestReader,
  { chain_profile_id, limit, cursor }: ManifestFilter,
): Promise<{ manifests: ManifestSummary[]; next_cursor: string | null }> {
  const after = cursor === undefined ? null : decodeCursor(cursor, Cursor);
  const names = (await reader.list(chain_profile_id)).filter(
    (name) => after === null || isAfter(name, after),
  );
  const page = names.slice(0, limit);
  const manifests: ManifestSummary[] = [];
  for (const name of page) {
    manifests.push(await summaryOf(reader, name));
  }
  const last = page.at(-1);
  const more = names.length > page.length && last !== undefined;
  return { manifests, next_cursor: more ? encodeCursor([last.profile, last.upgrade]) : null };
}

const isAfter = ({ profile, upgrade }: ManifestName, [lastProfile, lastUpgrade]: z.infer<typeof Cursor>) =>
  profile > lastProfile || (profile === lastProfile && upgrade > lastUpgrade);

const UNKNOWN = { runtime: null, binary_name: null, target_version: null, migration_type: null } as const;

/** One file that is too large, or a link, must not hide all others. */
async function summaryOf(reader: ManifestReader, name: ManifestName): Promise<ManifestSummary> {
  try {
    const { text: _text, ...summary } = await viewManifest(reader, name);
    return summary;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    const named = { chain_profile_id: name.profile, upgrade_id: name.upgrade, content_hash: null };
    return { ...named, ...UNKNOWN, problem: error.message };
  }
}

export async function viewManifest(reader: ManifestReader, name: ManifestName): Promise<ManifestView> {
  const stored = await reader.read(name);
  const named = {
    chain_profile_id: name.profile,
    upgrade_id: name.upgrade,
    content_hash: stored.contentHash,
    text: stored.bytes.toString("utf8"),
  };
  try {
    const { manifest } = await reader.open(name, stored);
    const { runtime, binary_name, target_version } = manifest;
    const { migration_type } = manifest.state_compatibility;
    return { ...named, runtime, binary_name, target_version, migration_type, problem: null };
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return { ...named, ...UNKNOWN, problem: error.message };
  }
}
