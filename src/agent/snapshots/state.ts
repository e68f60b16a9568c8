/**
 * What a node remembers about its snapshots (SNAP-12): one value, one file, one durable write per change.
 *
 * 1. `accepted` is the highest version that was ever taken, also when its file is lost: it never goes down within an
 *    epoch, and epochs never go down.
 * 2. `floor` is the newest signed time that was accepted: effective time never goes back behind it (SNAP-17). Time that
 *    the node was awake since then counts as well, so that neither a clock set back nor a restart wins any.
 */
import { z } from "zod";
import { Digest, Instant, KeyId } from "../../core/ids.ts";
import { KeptRejection } from "../kept-rejection.ts";
import { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import { ScopeType } from "../../core/snapshot/scopes.ts";
import { RootSet } from "../../core/snapshot/trust-bundle.ts";

const HEAD_BASE64_MAX = 1024 * 1024;

/** One verified file, and what must be known to verify it again. */
export const FrameRef = SnapshotVersion.extend({
  file: z.string().max(100),
  /** Of the file's bytes: tells a damaged file from one that is no longer believed. */
  file_digest: Digest,
  content_hash: Digest,
  signer_key_ids: z.array(KeyId).min(1).max(16),
  issued_at: Instant,
  expires_at: Instant,
  refresh_after: Instant,
  /** Of a trust bundle: by whom it was believed, and in which epoch it found the node. */
  believed_by: z
    .object({ root: RootSet, epoch: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable() })
    .optional(),
});
export type FrameRef = z.infer<typeof FrameRef>;

const ScopeState = z.object({
  accepted: SnapshotVersion.nullable(), // (1)
  active: FrameRef.nullable(),
  /** The one that was active before: what is left when the active file is damaged. */
  previous: FrameRef.nullable(),
  /** Only a full snapshot helps: an increment did not fit, or the active file is damaged. */
  resync: z.boolean(),
  rejection: KeptRejection,
});
export type ScopeState = z.infer<typeof ScopeState>;

export const State = z.object({
  /** The token that made this identity: another one means that an operator enrolled the machine anew. */
  enrollment: Digest.nullable(),
  floor: Instant.nullable(), // (2)
  awake_ms: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  /** The root set and epoch of the newest trust bundle that was accepted. */
  root: RootSet.nullable(),
  epoch: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable(),
  scopes: z.partialRecord(ScopeType, ScopeState),
  /** Of bytes that name no scope. */
  rejection: KeptRejection,
  /** The newest head, as it was signed. */
  head: z.string().max(HEAD_BASE64_MAX).nullable(),
  /** The control plane said that this node is revoked; a newer head takes it back. */
  refused_at: Instant.nullable(),
});
export type State = z.infer<typeof State>;

export const EMPTY_STATE: State = {
  enrollment: null,
  floor: null,
  awake_ms: 0,
  root: null,
  epoch: null,
  scopes: {},
  rejection: null,
  head: null,
  refused_at: null,
};

const NOTHING: ScopeState = { accepted: null, active: null, previous: null, resync: false, rejection: null };

export const scopeIn = (state: State, scope: ScopeType): ScopeState => state.scopes[scope] ?? NOTHING;

export const withScope = (state: State, scope: ScopeType, change: Partial<ScopeState>): State => ({
  ...state,
  scopes: { ...state.scopes, [scope]: { ...scopeIn(state, scope), ...change } },
});

/** The floor with one more signed time. */
export function raised(floor: string | null, issuedAt: string): string {
  return floor !== null && Date.parse(floor) >= Date.parse(issuedAt) ? floor : issuedAt;
}

/** Every file that a pointer names. */
export const filesOf = ({ scopes }: State): string[] =>
  Object.values(scopes).flatMap(({ active, previous }) =>
    [active, previous].flatMap((ref) => (ref === null ? [] : [ref.file])),
  );
