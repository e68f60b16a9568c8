/** Whether nodes still take a stored intent: they ask the trust bundle for its key each time (SNAP-15). */
import type { ProfileId } from "../../core/ids.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { releaseKeyFor } from "../../trust/trusted-keys.ts";
import type { Database, Queryable } from "../db/database.ts";

interface SignedRollout {
  readonly chain_profile_id: string;
  readonly intent_frame: Buffer | null;
}

export async function newestBundleContent(db: Queryable): Promise<unknown> {
  const [row] = await db<{ content: unknown }[]>`
    select content from trust_bundles order by epoch desc, version desc limit 1`;
  return row?.content ?? null;
}

/** The reason why nodes refuse the intent now; null where they take it, or none was signed. */
export function whyUntrusted(
  { chain_profile_id, intent_frame }: SignedRollout,
  bundle: unknown,
  now: number,
): string | null {
  if (intent_frame === null || bundle === null) return null;
  const { key_id } = decodeFrame(intent_frame).signatures[0]!;
  const time = { local: now, effective: now };
  const found = releaseKeyFor(TrustBundle.parse(bundle), key_id, chain_profile_id as ProfileId, time);
  return found.kind === "untrusted" ? found.reason : null;
}

/**
 * After a new bundle: a rollout whose intent it no longer lets pass says so at its next step, which is now. In id order,
 * like every other writer of many rollouts, to avoid deadlocks.
 */
export async function wakeSigned(db: Database): Promise<void> {
  await db`
    update rollouts set wake_at = clock_timestamp() where id in (
      select id from rollouts where status in ('running', 'rolling_back') and intent_frame is not null
      order by id for no key update)`;
}
