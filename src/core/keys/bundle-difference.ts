/** What one trust bundle changes against the one before it: read by the server to step keys, by people before they sign. */
import type { KeyId } from "../ids.ts";
import type { KeyAuthority } from "../snapshot/signing-keys.ts";
import type { OnlineKey, ReleaseKey, RootSet, TrustBundle } from "../snapshot/trust-bundle.ts";

type ListedRecord = RootSet["keys"][number] & Partial<Omit<OnlineKey & ReleaseKey, "key_id">>;

export interface ListedKey {
  readonly authority: KeyAuthority;
  readonly record: ListedRecord;
}

export interface BundleDifference {
  readonly added: readonly ListedKey[];
  /** Left out, and not revoked. */
  readonly removed: readonly ListedKey[];
  /** The same key with another name, validity, scopes or profiles. */
  readonly changed: readonly ListedKey[];
  readonly revoked: readonly KeyId[];
  readonly threshold: { readonly from: number; readonly to: number } | null;
  readonly intentsRequired: { readonly from: boolean; readonly to: boolean } | null;
}

export function listedKeys(bundle: TrustBundle): ListedKey[] {
  const listed = (authority: KeyAuthority, records: readonly ListedRecord[]): ListedKey[] =>
    records.map((record) => ({ authority, record }));
  return [
    ...listed("root", bundle.root.keys),
    ...listed("online", bundle.online_keys),
    ...listed("release", bundle.release_keys),
    ...listed("publisher", bundle.publisher_keys),
  ];
}

export function bundleDifference(before: TrustBundle, after: TrustBundle): BundleDifference {
  const [old, now] = [before, after].map(
    (bundle) => new Map(listedKeys(bundle).map((key) => [placeOf(key), key])),
  );
  const revoked = after.revoked_keys.filter((id) => !before.revoked_keys.includes(id));
  const [from, to] = [before.root.threshold, after.root.threshold];
  return {
    added: [...now!].filter(([place]) => !old!.has(place)).map(([, key]) => key),
    removed: [...old!]
      .filter(([place, { record }]) => !now!.has(place) && !after.revoked_keys.includes(record.key_id))
      .map(([, key]) => key),
    changed: [...now!]
      .filter(([place, key]) => old!.has(place) && !same(old!.get(place)!, key))
      .map(([, key]) => key),
    revoked,
    threshold: from === to ? null : { from, to },
    intentsRequired:
      before.intents_required === after.intents_required
        ? null
        : { from: before.intents_required, to: after.intents_required },
  };
}

/** A key that changes its authority is another key: it is removed in one place and added in the other. */
const placeOf = ({ authority, record }: ListedKey): string => `${authority} ${record.key_id}`;

const same = (a: ListedKey, b: ListedKey): boolean => spelled(a) === spelled(b);
const spelled = ({ record }: ListedKey): string =>
  JSON.stringify(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
