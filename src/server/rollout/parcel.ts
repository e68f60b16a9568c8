/** What a step has written for its nodes, for those that wait at the replica that wrote it (ADR 15). */
import type { NodeId } from "../../core/ids.ts";
import type { CommandDelivery, PollResponse } from "../../core/protocol/agent-api.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { PublishedSnapshot } from "../snapshots/publish.ts";

export interface SentCommand {
  readonly sequence: number;
  readonly delivery: CommandDelivery;
}

/** The version is that of the assignment in it. */
interface Contents<Answer> extends SnapshotVersion {
  /** Of the command in it. */
  readonly sequence: number | null;
  readonly answer: Answer;
}

export type ParcelDraft = Contents<PollResponse>;
/** Plain data, from the steps' thread to the one that answers agents: what the node is answered, as it goes out. */
export type Parcel = Contents<Uint8Array<ArrayBuffer>>;

/** Of each node that has something new; null where it has to be looked up. */
export type ParcelDrafts = ReadonlyMap<NodeId, ParcelDraft | null>;
export type Parcels = ReadonlyMap<NodeId, Parcel | null>;

export interface HandOver {
  /** This replica: what it tells the others of, it knows itself. */
  readonly from: string;
  /** Called when the step is committed. */
  deliver(parcels: Parcels): void;
}

export function draftParcel(
  { epoch, version, frame }: PublishedSnapshot,
  command: SentCommand | null,
): ParcelDraft | null {
  if (frame === null) return null;
  const answer = {
    snapshots: [frame().toString("base64")],
    increments: [],
    head: null,
    commands: command === null ? [] : [command.delivery],
    void_intents: [],
  };
  return { epoch, version, sequence: command?.sequence ?? null, answer };
}

/** All answers stand in one piece of memory, which can go to another thread without being copied. */
export function packParcels(drafts: ParcelDrafts): Parcels {
  const texts = [...drafts.values()].map((draft) => (draft === null ? "" : JSON.stringify(draft.answer)));
  const memory = Buffer.from(new ArrayBuffer(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)));
  let at = 0;
  const packed = [...drafts].map(([nodeId, draft], index): [NodeId, Parcel | null] => {
    if (draft === null) return [nodeId, null];
    const length = memory.write(texts[index]!, at);
    const answer = new Uint8Array(memory.buffer, at, length);
    at += length;
    return [nodeId, { ...draft, answer }];
  });
  return new Map(packed);
}

export const memoryOf = (parcels: Parcels): ArrayBuffer[] => {
  const answers = [...parcels.values()].flatMap((parcel) => parcel?.answer.buffer ?? []);
  return [...new Set(answers)];
};
