/**
 * Asks the gate in this node's situation (SNAP-9, SNAP-10). Every sensitive action of the agent passes here;
 * call-sites.ts says where from.
 */
import type { Action } from "../../core/degraded/actions.ts";
import { gate, type Gate, type Situation } from "../../core/degraded/gate.ts";
import { FairleadError } from "../../core/errors.ts";
import type { Revocation } from "../../core/snapshot/revocation.ts";
import type { SnapshotStore } from "../snapshots/store.ts";
import type { Contact } from "./contact.ts";

export interface GateKeeper {
  ask(action: Action, ...concerning: readonly Revocation[]): Gate;
  /** Throws what closes the gate: AUTHORITY_REVOKED, HEAD_STALE or one of the DEGRADED codes. */
  passGate(action: Action, ...concerning: readonly Revocation[]): Extract<Gate, { kind: "open" }>;
  situation(): Situation;
}

export type SituationSource = Pick<
  SnapshotStore,
  "nodeId" | "isHeadFresh" | "policy" | "silentMs" | "time" | "revoked" | "isRefused" | "assignedUntil"
>;

export function createGateKeeper(snapshots: SituationSource, contact: Contact): GateKeeper {
  const situation = (): Situation => ({
    nodeId: snapshots.nodeId,
    contact: contact.isThere(),
    headFresh: snapshots.isHeadFresh(),
    policy: snapshots.policy(),
    offlineMs: snapshots.silentMs(),
    effective: snapshots.time().effective,
    assignedUntil: snapshots.assignedUntil(),
    revoked: snapshots.revoked(),
    refusedByControlPlane: snapshots.isRefused(),
    partitioned: contact.isPartitioned(),
  });
  const ask = (action: Action, ...concerning: readonly Revocation[]): Gate =>
    gate(action, situation(), ...concerning);
  return {
    ask,
    situation,
    passGate(action, ...concerning) {
      const answer = ask(action, ...concerning);
      if (answer.kind === "closed") throw new FairleadError(answer.code, answer.reason, { action });
      return answer;
    },
  };
}
