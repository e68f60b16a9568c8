/**
 * The verified snapshots of this node.
 *
 * 1. A frame is durable under its own name before the pointer file names it: killed between the two, the old one is active.
 * 2. Versions only go up, also across restarts: the pointer file remembers them when a frame has expired.
 * 3. Effective time never goes back: the floor is the newest signed time that was accepted (SNAP-17).
 * 4. An expired trust bundle is believed no more, but what it settled stays: its root set, what it revoked, and that
 *    intents are required. Waiting for it to expire wins nothing.
 */
import { join } from "node:path";
import { z } from "zod";
import { FairleadError, type ErrorCode } from "../../core/errors.ts";
import { Instant } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { SnapshotVersion, versionOf, type SnapshotHeader } from "../../core/snapshot/envelope.ts";
import { ScopeType } from "../../core/snapshot/scopes.ts";
import { ServiceAssignmentContent } from "../../core/snapshot/service-assignment.ts";
import { RootSet, TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { Clock } from "../../host/clock.ts";
import { ensureDirectory, readBoundedIfThere, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import { type FileSystemPort, nodeFileSystem } from "../../host/file-system-port.ts";
import { removeDurable, writeDurable } from "../../host/durable-write.ts";
import type { TimeWindow } from "../../trust/trusted-keys.ts";
import {
  verifySnapshot,
  type AcceptedSnapshot,
  type SnapshotRejection,
} from "../../trust/verify-snapshot.ts";
import type { SnapshotContext } from "../../trust/snapshot-subject.ts";
import type { Identity } from "../identity/store.ts";
import { isLoopbackHost } from "../programs/loopback.ts";

const FRAME_BYTES_MAX = LIMITS.snapshotContentBytesMax + 64 * 1024;

const Pointer = z.strictObject({
  floor: Instant.nullable(),
  /** The root set that the active trust bundle was believed by: after a rotation no longer the enrollment's. */
  root: RootSet.nullable(),
  active: z.partialRecord(
    ScopeType,
    SnapshotVersion.extend({ file: z.string().max(100), expires_at: Instant }),
  ),
});
type Pointer = z.infer<typeof Pointer>;

export interface HeldAssignment {
  readonly header: Pick<SnapshotHeader, "config_version" | "expires_at">;
  readonly content: ServiceAssignmentContent;
}

interface HeldBundle {
  readonly bundle: TrustBundle;
  readonly expiresAt: number;
}

/** What the disk did to a frame, as against what time or a newer trust bundle did. */
const DAMAGED: readonly ErrorCode[] = [
  "SNAPSHOT_MALFORMED",
  "SNAPSHOT_SIGNATURE_INVALID",
  "SNAPSHOT_HASH_MISMATCH",
  "SNAPSHOT_ROLLBACK",
];

export type SnapshotStore = Awaited<ReturnType<typeof openSnapshotStore>>;

export async function openSnapshotStore(
  dataDir: string,
  identity: Identity,
  clock: Clock,
  fs: FileSystemPort = nodeFileSystem,
) {
  const folder = join(dataDir, "snapshots");
  await ensureDirectory(folder, 0o700, fs);
  const pointerPath = join(folder, "active.json");
  let pointer: Pointer = (await readJsonIfThere(pointerPath, Pointer, fs)) ?? {
    floor: null,
    root: null,
    active: {},
  };
  let held: HeldBundle | null = null;
  let assignment: HeldAssignment | null = null;
  /** Scopes whose frame did not outlive a restart: the same version may come again. */
  const lost = new Set<ScopeType>();

  function time(): TimeWindow {
    const local = clock.now();
    const floor = pointer.floor === null ? 0 : Date.parse(pointer.floor);
    return { local, effective: Math.max(local, floor) };
  }

  const bundle = (): TrustBundle | null =>
    held !== null && held.expiresAt > time().effective ? held.bundle : null; // (4)

  const root = (): RootSet => held?.bundle.root ?? pointer.root ?? identity.root; // (4)

  function verify(
    bytes: Uint8Array,
    accepted: SnapshotContext["accepted"],
    at = time(),
  ): AcceptedSnapshot | SnapshotRejection {
    const { cluster_id: clusterId, node_id: nodeId, roles } = identity;
    const previous = held?.bundle ?? null;
    const result = verifySnapshot(bytes, {
      clusterId,
      nodeId,
      roles,
      root: root(),
      bundle: bundle(),
      previous,
      accepted,
      time: at,
    });
    return result.kind === "accepted" && isDemoAbroad(result, identity) ? DEMO_ABROAD : result;
  }

  /** One below what was accepted, so that exactly that may come again and nothing older. */
  function acceptedBefore(scope: ScopeType): SnapshotVersion | null {
    const active = pointer.active[scope];
    return active === undefined ? null : { epoch: active.epoch, version: active.version - 1 };
  }

  function hold({ header, content }: Pick<AcceptedSnapshot, "header" | "content">): void {
    if (header.scope_type === "trust_bundle")
      held = { bundle: TrustBundle.parse(content), expiresAt: Date.parse(header.expires_at) };
    if (header.scope_type === "service_assignment")
      assignment = { header, content: ServiceAssignmentContent.parse(content) };
  }

  async function apply(bytes: Uint8Array): Promise<AcceptedSnapshot | SnapshotRejection> {
    const result = verify(bytes, (scope) =>
      lost.has(scope) ? acceptedBefore(scope) : (pointer.active[scope] ?? null),
    );
    if (result.kind === "rejected") return result;
    const { header } = result;
    const scope = header.scope_type;
    const before = pointer.active[scope]?.file;
    const file = `${scope}.${header.authority_epoch}.${header.config_version}.frame`;
    await writeDurable(join(folder, file), bytes, { mode: 0o600, fs });
    const floor = new Date(
      Math.max(Date.parse(header.issued_at), Date.parse(pointer.floor ?? header.issued_at)),
    ).toISOString();
    const next: Pointer = {
      floor,
      root: scope === "trust_bundle" ? root() : pointer.root,
      active: { ...pointer.active, [scope]: { ...versionOf(header), file, expires_at: header.expires_at } },
    };
    await writeJsonDurable(pointerPath, next, { mode: 0o600, fs }); // (1)
    pointer = next;
    hold(result);
    lost.delete(scope);
    if (scope === "trust_bundle") {
      assignment = null;
      await load("service_assignment"); // whose key may just have been revoked, or come back into force
    }
    if (before !== undefined && before !== file) await removeDurable(join(folder, before), fs);
    return result;
  }

  /** What was verified once is verified again after a restart: the disk is not trusted, and keys may have been revoked. */
  async function load(scope: ScopeType): Promise<void> {
    const active = pointer.active[scope];
    if (active === undefined) return;
    const bytes = await readBoundedIfThere(join(folder, active.file), FRAME_BYTES_MAX, fs);
    const result = verify(bytes ?? new Uint8Array(), acceptedBefore, whenInForce(active.expires_at));
    if (result.kind === "accepted") return hold(result);
    if (scope === "trust_bundle") {
      throw new FairleadError(result.code, `the stored trust bundle is refused: ${result.reason}`);
    }
    if (DAMAGED.includes(result.code)) lost.add(scope);
  }

  /** It was accepted in its time; whether it may be used now is asked at each use, and then answered with its own code. */
  const whenInForce = (expiresAt: string): TimeWindow => ({
    local: Number.MAX_SAFE_INTEGER,
    effective: Math.min(time().effective, Date.parse(expiresAt) - 1),
  });
  await load("trust_bundle");
  await load("service_assignment");

  /** Invariant 3 holds for commands as well: they are signed and say when. */
  async function raiseFloor(issuedAt: string): Promise<void> {
    if (pointer.floor !== null && Date.parse(issuedAt) <= Date.parse(pointer.floor)) return;
    const next: Pointer = { ...pointer, floor: issuedAt };
    await writeJsonDurable(pointerPath, next, { mode: 0o600 });
    pointer = next;
  }

  return {
    apply,
    raiseFloor,
    time,
    /** Null when none was accepted, or the last one has expired. */
    bundle,
    assignment: () => assignment,
    versions: () =>
      Object.fromEntries(
        Object.entries(pointer.active)
          .filter(([scope]) => !lost.has(scope as ScopeType))
          .map(([scope, { epoch, version }]) => [scope, { epoch, version }]),
      ) as Partial<Record<ScopeType, SnapshotVersion>>,
  };
}

const DEMO_ABROAD: SnapshotRejection = {
  kind: "rejected",
  step: 11,
  code: "BUNDLE_REFUSED",
  field: "demo",
  reason: "a demo trust bundle is for loopback only",
};

const isDemoAbroad = ({ header, content }: AcceptedSnapshot, { agent_url }: Identity): boolean =>
  header.scope_type === "trust_bundle" &&
  TrustBundle.parse(content).demo &&
  !isLoopbackHost(new URL(agent_url).hostname);
