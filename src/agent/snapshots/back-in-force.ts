/**
 * A clock that was ahead makes the trust bundle look expired, and every snapshot unbelieved. When the clock is corrected
 * the bundle is in force again, and so is everything that it covers: asked with each poll, answered or not (SNAP-17).
 */
import { bundleInForce } from "./belief.ts";
import type { StoreCore } from "./core.ts";
import { reloadHead } from "./heads.ts";
import { reloadFollowing } from "./reload.ts";

export async function reloadWhenBackInForce(core: StoreCore): Promise<void> {
  if (core.verifiedInForce || bundleInForce(core) === null) return;
  await reloadHead(core);
  await reloadFollowing(core);
  core.notify("trust_bundle");
}
