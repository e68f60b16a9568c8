// A node as far as snapshots go: asks for what it lacks, verifies all of it as an agent does, keeps it in memory.

import type { NodeId } from "../../../src/core/ids.ts";
import type { Json } from "../../../src/core/json.ts";
import type { AppliedVersions, PollResponse } from "../../../src/core/protocol/agent-api.ts";
import { NodeBootstrapContent } from "../../../src/core/snapshot/contents.ts";
import { versionOf, type SnapshotHeader } from "../../../src/core/snapshot/envelope.ts";
import { contentHashOf } from "../../../src/core/snapshot/increment.ts";
import type { ScopeType } from "../../../src/core/snapshot/scopes.ts";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { createDeliveryFinder, type DeliveryQuery } from "../../../src/server/agents/deliveries.ts";
import { createBundleReader } from "../../../src/server/snapshots/bundles.ts";
import { verifyHead, type VerifiedHead } from "../../../src/trust/head.ts";
import { verifyIncrement } from "../../../src/trust/increment.ts";
import type { SnapshotContext } from "../../../src/trust/snapshot-subject.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import type { Fleet } from "./fleet.ts";

interface Held {
  readonly header: SnapshotHeader;
  readonly content: Json;
}

export function createReader(fleet: Fleet, nodeId: NodeId) {
  const { db, authority } = fleet;
  const find = createDeliveryFinder(
    db,
    createBundleReader(db, () => performance.now()),
    authority,
  );
  const held = new Map<ScopeType, Held>();
  let head: VerifiedHead | null = null;

  function context(): SnapshotContext {
    const bundle = held.get("trust_bundle");
    const membership = NodeBootstrapContent.parse(held.get("node_bootstrap")?.content ?? {}).membership;
    const now = Date.now();
    return {
      clusterId: authority.clusterId,
      nodeId,
      roles: membership?.roles ?? [],
      organizationIds: membership?.organization_ids ?? [],
      root: fleet.root,
      bundle: bundle === undefined ? null : TrustBundle.parse(bundle.content),
      epoch: bundle?.header.authority_epoch ?? null,
      accepted: (scope) => (held.has(scope) ? versionOf(held.get(scope)!.header) : null),
      time: { local: now, effective: now },
    };
  }

  const have = (): AppliedVersions =>
    Object.fromEntries([...held].map(([scope, { header }]) => [scope, versionOf(header)]));

  async function ask(changes: Partial<DeliveryQuery> = {}): Promise<PollResponse | null> {
    const headIssuedAt = head === null ? null : Date.parse(head.header.issued_at);
    const query = { nodeId, have: have(), mark: 0, serials: {}, headIssuedAt, resync: [], ...changes };
    return (await find(query)).answer;
  }

  /** Everything in the answer must be accepted, in its order. */
  function take(answer: PollResponse): ScopeType[] {
    const taken: ScopeType[] = [];
    for (const frame of answer.snapshots) {
      const result = verifySnapshot(Buffer.from(frame, "base64"), context());
      if (result.kind === "rejected") throw new Error(JSON.stringify(result));
      held.set(result.header.scope_type, result);
      taken.push(result.header.scope_type);
    }
    for (const frame of answer.increments) {
      const bytes = Buffer.from(frame, "base64");
      const results = [...held.values()].map((base) =>
        verifyIncrement(bytes, context(), {
          version: versionOf(base.header),
          contentHash: contentHashOf(base.header),
          content: base.content,
        }),
      );
      const accepted = results.find((result) => result.kind === "accepted");
      if (accepted === undefined) throw new Error(JSON.stringify(results));
      held.set(accepted.header.scope_type, accepted);
      taken.push(accepted.header.scope_type);
    }
    if (answer.head !== null) {
      const { clusterId, bundle, epoch, time } = context();
      head = verifyHead(Buffer.from(answer.head, "base64"), {
        clusterId,
        nodeId,
        bundle,
        epoch,
        time,
        held: head,
      });
    }
    return taken;
  }

  return {
    ask,
    take,
    have,
    content: (scope: ScopeType) => held.get(scope)?.content,
    hashOf: (scope: ScopeType) => contentHashOf(held.get(scope)!.header),
    head: () => head,
    /** Asks and takes until nothing more comes. */
    async catchUp(): Promise<void> {
      for (let answer = await ask(); answer !== null; answer = await ask()) take(answer);
    },
  };
}
