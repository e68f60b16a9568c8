/** What a step has written for its nodes, for those that wait at the replica that wrote it (ADR 15). */
import type { NodeId } from "../../core/ids.ts";
import type { CommandDelivery } from "../../core/protocol/agent-api.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { PublishedSnapshot } from "../snapshots/publish.ts";

export interface SentCommand {
  readonly sequence: number;
  readonly delivery: CommandDelivery;
}

/** Plain data: it goes from the steps' thread to the one that answers agents. */
export interface Parcel {
  readonly assignment: SnapshotVersion & { readonly frame: string };
  readonly command: SentCommand | null;
}

export function parcelOf(assignment: PublishedSnapshot, command: Parcel["command"]): Parcel | null {
  const { epoch, version, frame } = assignment;
  return frame === null
    ? null
    : { assignment: { epoch, version, frame: frame().toString("base64") }, command };
}

/** Of each node that has something new; null where it has to be looked up. */
export type Parcels = ReadonlyMap<NodeId, Parcel | null>;

export interface HandOver {
  /** This replica: what it tells the others of, it knows itself. */
  readonly from: string;
  /** Called when the step is committed. */
  deliver(parcels: Parcels): void;
}
