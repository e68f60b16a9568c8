/** A machine that asks for its certificate, and what becomes of it. */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import type { Machine } from "../../core/model/node-name.ts";
import type { NodeRole } from "../../core/snapshot/scopes.ts";
import type { RequestedKey } from "./signing-request.ts";

export interface Applicant {
  readonly secretHash: string;
  readonly key: RequestedKey;
  readonly machine: Machine;
  readonly address: string;
}

export type Decision =
  /** A certificate is issued. */
  | { readonly kind: "enrolled"; readonly nodeId: NodeId; readonly roles: readonly NodeRole[] }
  /** The same key asks again after a lost answer, and gets the same certificate. */
  | { readonly kind: "again"; readonly nodeId: NodeId; readonly roles: readonly NodeRole[] }
  /** An operator has to approve the node first. */
  | { readonly kind: "pending"; readonly nodeId: NodeId; readonly name: string }
  | { readonly kind: "refused"; readonly error: FairleadError };

/** For a secret that is unknown, or whose holder is to learn no more. */
export const refusedAlike = (): Decision => refused("the enrollment token is unknown, expired or used");

/** A secret has 256 bits: its holder may be told what is wrong. */
export const refused = (message: string): Decision => ({
  kind: "refused",
  error: new FairleadError("ENROLLMENT_REFUSED", message),
});
