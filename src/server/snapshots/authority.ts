/** In whose name this replica signs: asked anew for each batch, because keys rotate while it runs (SNAP-8). */
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId } from "../../core/ids.ts";
import type { Signer } from "../../trust/keys.ts";
import type { ClockGate } from "../clock/gate.ts";
import type { Queryable } from "../db/database.ts";

export interface Authority {
  readonly clusterId: ClusterId;
  /** The active online key first; while keys rotate, the one that comes or goes beside it. */
  signers(): readonly [Signer, ...Signer[]];
  /** Looks at the keys' rows first: called inside the transaction that signs, after its locks are taken. */
  follow?(tx: Queryable): Promise<void>;
  /** What is signed passes it, with the time that it will carry. */
  readonly clock?: Pick<ClockGate, "check" | "isOpen">;
}

/** Whether the clocks agree on this time. */
export function maySignAt({ clock }: Authority, issuedAt: number): boolean {
  try {
    clock?.check(issuedAt);
    return true;
  } catch (error) {
    if (error instanceof FairleadError && error.code === "CLOCK_DISAGREES") return false;
    throw error;
  }
}

/** The replica cannot sign, for any node: its transaction fails, and is tried again here or elsewhere. */
export const isOfReplica = (error: unknown): boolean =>
  error instanceof FairleadError && CODES_OF_REPLICA.includes(error.code);

const CODES_OF_REPLICA: readonly ErrorCode[] = ["NOT_READY", "NOT_INITIALIZED", "CLOCK_DISAGREES"];

/** Whoever signs asks here. Throws CLOCK_DISAGREES, and NOT_READY where the key is not at this replica. */
export function signersAt(authority: Authority, issuedAt: number): readonly [Signer, ...Signer[]] {
  authority.clock?.check(issuedAt);
  return authority.signers();
}
