// An agent without a machine: the real verification code over a store in memory, polling the real agents' listener with
// a certificate of its own. It remembers everything that it refused, and by whom what it took was signed.

import type { Identity } from "../../../src/agent/identity/store.ts";
import { openLink } from "../../../src/agent/link/link.ts";
import type { ErrorCode } from "../../../src/core/error-codes.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import type { KeyId, NodeId } from "../../../src/core/ids.ts";
import type { Json } from "../../../src/core/json.ts";
import type { AppliedVersions, PollResponse } from "../../../src/core/protocol/agent-api.ts";
import { NodeBootstrapContent } from "../../../src/core/snapshot/contents.ts";
import type { SnapshotHeader } from "../../../src/core/snapshot/envelope.ts";
import { contentHashOf, IncrementHeader } from "../../../src/core/snapshot/increment.ts";
import type { ScopeType } from "../../../src/core/snapshot/scopes.ts";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { sleep } from "../../../src/host/clock.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { verifyHead, type VerifiedHead } from "../../../src/trust/head.ts";
import { verifyIncrement, type ActiveContent } from "../../../src/trust/increment.ts";
import type { SnapshotContext } from "../../../src/trust/snapshot-subject.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";

const RETRY_MS = 100;
const WAIT_MS = 20_000;

export interface Refused {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly signer: KeyId | null;
  /** Whether this agent knew then that the signer was revoked. */
  readonly isRevoked: boolean;
}

export type SimulatedAgent = ReturnType<typeof simulateAgent>;

export function simulateAgent(name: string, identity: Identity, firstBundle: Buffer) {
  const link = openLink(identity);
  const held = new Map<ScopeType, ActiveContent & { readonly signer: KeyId }>();
  const refused: Refused[] = [];
  const takenFrom = new Set<KeyId>();
  let bundle: TrustBundle | null = null;
  let head: VerifiedHead | null = null;
  let { roles, root } = identity;
  let organizationIds: readonly string[] = [];
  let resync: ScopeType[] = [];

  const revokedKeys = (): KeyId[] => [
    ...(bundle?.revoked_keys ?? []),
    ...(head?.content.revoked ?? [])
      .filter(({ kind }) => kind === "signing_key")
      .map(({ id }) => id as KeyId),
  ];

  const context = (): SnapshotContext => ({
    clusterId: identity.cluster_id,
    nodeId: identity.node_id,
    roles,
    organizationIds,
    root,
    bundle,
    previous: bundle,
    epoch: held.get("trust_bundle")?.version.epoch ?? null,
    revokedKeys: revokedKeys(),
    accepted: (scope) => held.get(scope)?.version ?? null,
    time: { local: Date.now(), effective: Date.now() },
  });

  function take(header: SnapshotHeader | IncrementHeader, content: Json): void {
    const version = { epoch: header.authority_epoch, version: header.config_version };
    const signer = header.signer_key_id;
    takenFrom.add(signer);
    if (revokedKeys().includes(signer)) throw new Error(`${name} took a snapshot of a revoked key`);
    held.set(header.scope_type, { version, contentHash: contentHashOf(header), content, signer });
    if (header.scope_type === "trust_bundle") {
      bundle = TrustBundle.parse(content);
      ({ root } = bundle);
    }
    if (header.scope_type !== "node_bootstrap") return;
    const { membership } = NodeBootstrapContent.parse(content);
    roles = membership?.roles ?? roles;
    organizationIds = membership?.organization_ids ?? organizationIds;
  }

  function refuse(frame: Buffer, code: ErrorCode, reason: string): void {
    const signer = signerOf(frame);
    refused.push({ code, reason, signer, isRevoked: signer !== null && revokedKeys().includes(signer) });
  }

  function offer(frame: Buffer): boolean {
    const verdict = verifySnapshot(frame, context());
    if (verdict.kind === "accepted") take(verdict.header, verdict.content);
    else refuse(frame, verdict.code, verdict.reason);
    return verdict.kind === "accepted";
  }

  function offerIncrement(frame: Buffer): void {
    const scope = scopeOf(frame);
    const verdict = verifyIncrement(frame, context(), (scope === null ? undefined : held.get(scope)) ?? null);
    if (verdict.kind === "accepted") return take(verdict.header, verdict.content);
    if (scope !== null) resync.push(scope); // as an agent does: the full one helps
    if (verdict.code !== "INCREMENT_BASE_MISMATCH") refuse(frame, verdict.code, verdict.reason);
  }

  function offerHead(frame: Buffer): void {
    try {
      head = verifyHead(frame, { ...context(), held: head });
    } catch (error) {
      if (!(error instanceof FairleadError)) throw error;
      refuse(frame, error.code, error.message);
    }
  }

  function handle({ snapshots, increments, head: next }: PollResponse): void {
    resync = [];
    for (const frame of snapshots) offer(Buffer.from(frame, "base64"));
    for (const frame of increments) offerIncrement(Buffer.from(frame, "base64"));
    if (next !== null) offerHead(Buffer.from(next, "base64"));
  }

  const applied = (): AppliedVersions =>
    Object.fromEntries([...held].map(([scope, { version }]) => [scope, version]));

  const beat = (signal: AbortSignal) =>
    link.heartbeat(
      {
        at: new Date().toISOString(),
        agent_version: "simulated",
        applied: applied(),
        programs: [],
        last_rejection: null,
      },
      signal,
    );

  async function turn(signal: AbortSignal): Promise<void> {
    const request = {
      have: applied(),
      command_mark: 0,
      intent_serials: {},
      head_issued_at: head?.header.issued_at ?? null,
      resync,
      wait_ms: WAIT_MS,
    };
    const before = JSON.stringify(applied());
    const answer = await link.poll(request, signal);
    if (answer !== null) handle(answer);
    if (JSON.stringify(applied()) !== before) await beat(signal);
    else if (answer !== null && answer.head === null) await sleep(RETRY_MS, signal); // what is refused stays on offer
  }

  return {
    name,
    nodeId: identity.node_id satisfies NodeId,
    refused,
    /** Every key that signed something it took. */
    takenFrom,
    offer,
    versionOf: (scope: ScopeType) => held.get(scope)?.version ?? null,
    /** Of everything it holds that the control plane signs. */
    signers: () => [...held].filter(([scope]) => scope !== "trust_bundle").map(([, { signer }]) => signer),
    async run(signal: AbortSignal): Promise<void> {
      if (!offer(firstBundle)) throw new Error(`${name} refused its first bundle`);
      await beat(signal);
      while (!signal.aborted) {
        try {
          await turn(signal);
        } catch (error) {
          if (signal.aborted) break;
          if (!(error instanceof FairleadError)) throw error;
          await sleep(RETRY_MS, signal);
        }
      }
      link.close();
    },
  };
}

function signerOf(frame: Buffer): KeyId | null {
  return decodeFrame(frame).signatures[0]?.key_id ?? null;
}

function scopeOf(frame: Buffer): ScopeType | null {
  const header = IncrementHeader.safeParse(parseCanonical(decodeFrame(frame).header));
  return header.success ? header.data.scope_type : null;
}
