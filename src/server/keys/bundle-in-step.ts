/**
 * The newest bundle and the keys that sign beside it, taken at one moment: after a change one of the two may be a moment
 * behind, and a node would be handed a signature by a key that it cannot know yet.
 */
import type { Queryable } from "../db/database.ts";
import type { Authority } from "../snapshots/authority.ts";
import type { BundleReader, StoredBundle } from "../snapshots/bundles.ts";

export type BundleSource = (() => Promise<StoredBundle>) & Partial<Pick<BundleReader, "forget">>;

export interface InStep {
  readonly bundle: StoredBundle;
  /** Signs with these keys whatever comes in between. */
  readonly authority: Authority;
}

export async function bundleInStep(
  newest: BundleSource,
  authority: Authority,
  db: Queryable,
): Promise<InStep> {
  const first = await newest();
  const taken = inStep(first, authority);
  if (first.content.online_keys.some((key) => key.key_id === taken.authority.signers()[0].record.key_id))
    return taken;
  newest.forget?.();
  await authority.follow?.(db);
  return inStep(await newest(), authority);
}

function inStep(bundle: StoredBundle, authority: Authority): InStep {
  const signers = authority.signers();
  const { clusterId, clock } = authority;
  return {
    bundle,
    authority: { clusterId, signers: () => signers, ...(clock === undefined ? {} : { clock }) },
  };
}
