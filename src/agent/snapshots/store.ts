/**
 * The verified snapshots of this node (SNAP-12): its one door. docs/agent-store.md has the layout.
 *
 * 1. Whatever stopped the agent, it opens with one whole verified snapshot per scope, the old or the new one.
 * 2. Versions only go up, also across restarts and damage; effective time never goes back (SNAP-17).
 * 3. A download that a crash left behind passes the same checks as any other, and nobody vouches for it.
 */
import type { Digest } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import type { Rejection } from "../../core/protocol/agent-api.ts";
import type { Revocation } from "../../core/snapshot/revocation.ts";
import { ScopeType } from "../../core/snapshot/scopes.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { Clock } from "../../host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory } from "../../host/files.ts";
import type { Identity } from "../identity/store.ts";
import { activate } from "./activate.ts";
import { reloadWhenBackInForce } from "./back-in-force.ts";
import { authorityEnd, type BoundPolicy } from "./bound-policy.ts";
import { bundleInForce, membershipOf, revokedKeys } from "./belief.ts";
import { nobodyThere, type Admit } from "./check-download.ts";
import { claimsOf } from "./claims.ts";
import { createCore, type StoreCore } from "./core.ts";
import { openFrames } from "./frames.ts";
import { lookForHeldBack, type Polled } from "./held-back.ts";
import { isHeadFresh, reloadHead, takeHead } from "./heads.ts";
import { layoutIn } from "./layout.ts";
import { reloadBundle, reloadFollowing } from "./reload.ts";
import { fetchRevoked, filesKept } from "./revoked.ts";
import { readState } from "./state-file.ts";
import { raised, scopeIn } from "./state.ts";

/** More than this a clock set back beside a restart cannot win. */
const WAITING_SAVED_EVERY_MS = 60_000;

export type { HeldAssignment } from "./held.ts";
export type SnapshotStore = Awaited<ReturnType<typeof openSnapshotStore>>;

export async function openSnapshotStore(
  dataDir: string,
  identity: Identity,
  clock: Clock,
  fs: FileSystemPort = nodeFileSystem,
) {
  const layout = layoutIn(dataDir);
  await ensureDirectory(layout.frames, 0o700, fs);
  const frames = openFrames(layout, fs);
  const core = createCore({ identity, clock, layout, frames, fs }, await readState(layout, fs));
  await noticeEnrollment(core);
  await reloadBundle(core);
  await reloadHead(core);
  await reloadFollowing(core);
  await takeUpPending(core);
  await frames.sweep(filesKept(core));

  return {
    /** `admit` is asked before new roots and new roles are taken. */
    apply: (bytes: Uint8Array, admit: Admit = nobodyThere) =>
      core.serially(() => activate(core, bytes, "snapshot", admit)),
    applyIncrement: (bytes: Uint8Array, admit: Admit = nobodyThere) =>
      core.serially(() => activate(core, bytes, "increment", admit)),
    takeHead: (bytes: Uint8Array) =>
      core.serially(async () => {
        await reloadWhenBackInForce(core);
        return takeHead(core, bytes);
      }),
    lookForHeldBack: (polled: Polled): Promise<Rejection[]> =>
      core.serially(async () => {
        await reloadWhenBackInForce(core);
        return lookForHeldBack(core, polled);
      }),
    /** Commands are signed as well, and say when. */
    raiseFloor: (issuedAt: string) => core.serially(() => raiseFloor(core, issuedAt)),
    /** Nobody answered: the time that was spent waiting is kept, or a restart would give it back. */
    noteWaiting: () => core.serially(() => saveWaiting(core)),
    /** The control plane answered that this node is revoked. Until a newer head says otherwise. */
    noteRefused: () => core.serially(() => noteRefused(core)),
    nodeId: identity.node_id,
    time: core.time,
    silentMs: core.silentMs,
    subscribe: core.subscribe,
    /** Null when none was accepted, or the last one has expired. */
    bundle: () => bundleInForce(core),
    assignment: core.held.assignment,
    assignedUntil: () => assignedUntil(core),
    /** The policy in force; else the last one accepted, which then only forbids. */
    policy: (): BoundPolicy | null => core.bound ?? core.held.policy(),
    /** What is in force of a scope. */
    content: (scope: ScopeType): Json | null => core.held.get(scope)?.content ?? null,
    membership: () => membershipOf(core),
    headIssuedAt: (): string | null => core.head?.header.issued_at ?? null,
    isHeadFresh: () => isHeadFresh(core),
    revoked: (): readonly Revocation[] => core.revoked.list,
    /** Pages of revocations that the head names and that are not here: how many are left. */
    fetchRevoked: (fetch: (digest: Digest) => Promise<Uint8Array>) =>
      core.serially(() => fetchRevoked(core, fetch)),
    /** Signing keys that a head revoked before any bundle did. */
    revokedKeys: () => revokedKeys(core),
    isRefused: (): boolean => core.state().refused_at !== null,
    versions: () => versionsOf(core),
    /** Scopes that only a full snapshot helps. */
    resync: (): ScopeType[] =>
      ScopeType.options.filter((scope) => core.lost.has(scope) || scopeIn(core.state(), scope).resync),
    /** The newest per scope; of bytes that name none, and of heads, under no scope. */
    rejections: (): Rejection[] =>
      [
        core.state().rejection,
        ...Object.values(core.state().scopes).map(({ rejection }) => rejection),
      ].filter((rejection) => rejection !== null),
  };
}

/** An operator enrolled this machine anew: the root that the new token pins is the one to believe. */
async function noticeEnrollment(core: StoreCore): Promise<void> {
  const state = core.state();
  const { token_digest: enrollment } = core.identity;
  if (state.enrollment === enrollment) return;
  const root = state.enrollment === null ? state.root : null;
  await core.save({ ...state, enrollment, root, refused_at: null });
}

/** Invariant 3. */
async function takeUpPending(core: StoreCore): Promise<void> {
  const bytes = await core.frames.readPending();
  if (bytes === null) return;
  await activate(core, bytes, claimsOf(bytes)?.kind ?? "snapshot", nobodyThere);
}

async function raiseFloor(core: StoreCore, issuedAt: string): Promise<void> {
  const state = core.state();
  const floor = raised(state.floor, issuedAt);
  if (floor !== state.floor) await core.save({ ...state, floor });
}

async function saveWaiting(core: StoreCore): Promise<void> {
  if (core.unsavedMs() >= WAITING_SAVED_EVERY_MS) await core.save(core.state());
}

async function noteRefused(core: StoreCore): Promise<void> {
  const state = core.state();
  if (state.refused_at !== null) return;
  await core.save({ ...state, refused_at: new Date(core.clock.now()).toISOString() });
  core.notify("head");
}

/** Null without an assignment. */
function assignedUntil(core: StoreCore): number | null {
  const { active } = scopeIn(core.state(), "service_assignment");
  return active === null ? null : authorityEnd(core, active);
}

/** What is active: where a file is damaged, what it fell back to, or nothing. */
function versionsOf(core: StoreCore): Partial<Record<ScopeType, SnapshotVersion>> {
  const versions: Partial<Record<ScopeType, SnapshotVersion>> = {};
  for (const scope of ScopeType.options) {
    const active = core.lost.has(scope) ? core.held.get(scope)?.version : scopeIn(core.state(), scope).active;
    if (active) versions[scope] = { epoch: active.epoch, version: active.version };
  }
  return versions;
}
