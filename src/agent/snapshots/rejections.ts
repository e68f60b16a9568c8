/** What was refused, and why, as it is stored and reported (SNAP-7): the newest per scope. */
import { REASON_CHARS_MAX, type Rejection } from "../../core/protocol/agent-api.ts";
import { storableText } from "../../core/text.ts";
import type { SnapshotRejection } from "../../trust/snapshot-subject.ts";
import type { StoreCore } from "./core.ts";
import { scopeIn, withScope } from "./state.ts";

const FIELD_CHARS_MAX = 200;

export type SnapshotNote = Omit<SnapshotRejection, "kind" | "step"> & { readonly step?: number };

export function rejectionOf(note: SnapshotNote, now: number): Rejection {
  const { code, field, reason, scope, version, step } = note;
  return {
    code,
    subject: scope === undefined ? "snapshot" : `snapshot ${scope}`,
    reason: storableText(reason, REASON_CHARS_MAX),
    at: new Date(now).toISOString(),
    field: storableText(field, FIELD_CHARS_MAX),
    ...(step === undefined ? {} : { step }),
    ...(scope === undefined ? {} : { scope }),
    ...(version === undefined ? {} : { version }),
  };
}

/** Stores it; answers with it. The same again is not written again: it may be offered with every poll. */
export async function noteRejection(core: StoreCore, note: SnapshotNote): Promise<Rejection> {
  const rejection = rejectionOf(note, core.clock.now());
  const state = core.state();
  const { scope } = note;
  const before = scope === undefined ? state.rejection : scopeIn(state, scope).rejection;
  const resync = scope !== undefined && NEEDS_FULL.includes(note.code);
  if (before !== null && isSame(before, rejection) && (!resync || scopeIn(state, scope).resync))
    return before;
  await core.save(
    scope === undefined
      ? { ...state, rejection }
      : withScope(state, scope, { rejection, ...(resync ? { resync } : {}) }),
  );
  return rejection;
}

/** An increment that was signed and does not fit here: only a full snapshot helps (SNAP-6). */
const NEEDS_FULL: readonly string[] = ["INCREMENT_BASE_MISMATCH", "INCREMENT_RESULT_MISMATCH"];

const isSame = (left: Rejection, right: Rejection): boolean =>
  JSON.stringify({ ...left, at: "" }) === JSON.stringify({ ...right, at: "" });

export const isHeldBack = (rejection: Rejection | null): boolean => rejection?.code === "SNAPSHOT_HELD_BACK";
