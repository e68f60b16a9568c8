/** In whose name this replica signs: asked anew for each batch, because keys rotate while it runs (SNAP-8). */
import type { ClusterId } from "../../core/ids.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Queryable } from "../db/database.ts";

export interface Authority {
  readonly clusterId: ClusterId;
  /** The active online key first; while keys rotate, the one that comes or goes beside it. */
  signers(): readonly [Signer, ...Signer[]];
  /** Looks at the keys' rows first: called inside the transaction that signs, after its locks are taken. */
  follow?(tx: Queryable): Promise<void>;
}
