/**
 * The thief takes the real replica away and answers the node itself (SNAP-15, SNAP-17): with old things, things for
 * others, things from the future, and heads that hide what is new. The node keeps what it had, and says why.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Digest, NodeId, SnapshotId } from "../../../../src/core/ids.ts";
import type { Json } from "../../../../src/core/json.ts";
import type { PollResponse } from "../../../../src/core/protocol/agent-api.ts";
import type { HeadContent } from "../../../../src/core/snapshot/head.ts";
import type { Database } from "../../../../src/server/db/database.ts";
import { joinFrame } from "../../../../src/trust/frame.ts";
import { signHead } from "../../../../src/trust/head.ts";
import { signIncrement } from "../../../../src/trust/increment.ts";
import { signSnapshot, type SnapshotDraft } from "../../../../src/trust/snapshot.ts";
import { noteAttempt } from "../../../support/lab/attempts.ts";
import {
  certificatesIn,
  portOf,
  startFalseReplica,
  type FalseReplica,
} from "../../../support/lab/false-replica.ts";
import type { Forger } from "../../../support/lab/forge.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import type { LabNode } from "../../../support/lab/node.ts";
import { killHard } from "../../../support/lab/processes.ts";

interface Loot {
  readonly lab: Lab;
  readonly db: Database;
  readonly forger: Forger;
  readonly node: LabNode;
}

const MINUTE_MS = 60_000;
const OTHER_NODE = NodeId.parse(randomUUID());
const EMPTY_HASH = Digest.parse(`sha256:${"0".repeat(64)}`);

export function heldBack(loot: () => Loot): void {
  describe("with a replica of the thief's own in the place of the real one", () => {
    let replica: FalseReplica;
    let id: NodeId;
    let scopes: HeadContent["scopes"];
    let oldAssignment: Buffer;
    let bundle: Json;
    let runs: string;

    beforeAll(async () => {
      const { lab, db, forger, node } = loot();
      [{ id } = { id: OTHER_NODE }] = await db<
        { id: NodeId }[]
      >`select id from nodes where name = ${node.name}`;
      scopes = await newestOf(db, id);
      oldAssignment = await anOlderAssignment(db, id);
      [{ bundle } = { bundle: null }] = await db<
        { bundle: Json }[]
      >`select content as bundle from trust_bundles`;
      const certificates = await certificatesIn(db);
      runs = (await node.running()).instance_id;
      await killHard(lab.server());
      replica = await startFalseReplica({
        dataDir: lab.dataDir,
        clusterId: forger.clusterId,
        certificates,
        port: await portOf(node),
      });
      replica.answer(id, { head: head() });
    });
    afterAll(async () => replica.close());

    const head = (change: { at?: number; node?: NodeId; scopes?: HeadContent["scopes"] } = {}): string => {
      const { clusterId, epoch, signer } = loot().forger;
      const content = { scopes: change.scopes ?? scopes, revoked: [] };
      const issuedAt = Date.now() + (change.at ?? 0);
      const draft = {
        clusterId,
        nodeId: change.node ?? id,
        epoch,
        issuedAt,
        lifetimeMs: 5 * MINUTE_MS,
        content,
      };
      return signHead(draft, [signer]).toString("base64");
    };

    const snapshot = (change: Partial<SnapshotDraft>): string => {
      const { clusterId, epoch, signer } = loot().forger;
      const draft: SnapshotDraft = {
        snapshotId: SnapshotId.parse(randomUUID()),
        clusterId,
        subject: id,
        scope: "service_assignment",
        roles: ["egress_service"],
        organizationIds: [],
        version: scopes.service_assignment!.version + 1,
        epoch,
        issuedAt: Date.now(),
        lifetimeMs: MINUTE_MS,
        content: { assignments: [] },
        ...change,
      };
      return signSnapshot(draft, [signer]).frame.toString("base64");
    };

    const ownBundle = (): string =>
      snapshot({ scope: "trust_bundle", subject: "shared", roles: [], version: 2, content: bundle });

    const onAnotherBase = (): string => {
      const { clusterId, epoch, signer } = loot().forger;
      const version = scopes.service_assignment!.version;
      const draft = {
        snapshotId: SnapshotId.parse(randomUUID()),
        clusterId,
        subject: id,
        scope: "service_assignment" as const,
        roles: ["egress_service" as const],
        organizationIds: [],
        version: version + 3,
        epoch,
        issuedAt: Date.now(),
        lifetimeMs: MINUTE_MS,
        base: { version: version + 2, contentHash: EMPTY_HASH },
        resultHash: EMPTY_HASH,
        content: { kind: "sections" as const, sections: { assignments: [] } },
      };
      return signIncrement(draft, [signer]).frame.toString("base64");
    };

    const newerThanHandedOver = (): HeadContent["scopes"] => ({
      ...scopes,
      service_assignment: { ...scopes.service_assignment!, version: scopes.service_assignment!.version + 9 },
    });

    test.each<[string, string, () => readonly Partial<PollResponse>[]]>([
      [
        "an old assignment, byte for byte",
        "SNAPSHOT_ROLLBACK",
        () => [{ snapshots: [oldAssignment.toString("base64")] }],
      ],
      [
        "an assignment made out to another node",
        "SNAPSHOT_WRONG_NODE",
        () => [{ snapshots: [snapshot({ subject: OTHER_NODE })] }],
      ],
      [
        "an assignment beyond the node's role",
        "SNAPSHOT_SCOPE_EXCEEDED",
        () => [{ snapshots: [snapshot({ roles: ["core_mesh"] })] }],
      ],
      [
        "an assignment of an epoch that no root key opened",
        "SNAPSHOT_EPOCH_UNKNOWN",
        () => [{ snapshots: [snapshot({ epoch: 2 })] }],
      ],
      [
        "a trust bundle signed by the stolen key",
        "SNAPSHOT_KEY_UNTRUSTED",
        () => [{ snapshots: [ownBundle()] }],
      ],
      ["an increment on another base", "INCREMENT_BASE_MISMATCH", () => [{ increments: [onAnotherBase()] }]],
      ["a head made out to another node", "HEAD_REFUSED", () => [{ head: head({ node: OTHER_NODE }) }]],
      ["an old head, to hide what came since", "HEAD_ROLLBACK", () => [{ head: head({ at: -MINUTE_MS }) }]],
      [
        "news that the head names and nobody hands over",
        "SNAPSHOT_HELD_BACK",
        () => [
          { head: head({ scopes: newerThanHandedOver() }) },
          { head: head({ scopes: newerThanHandedOver() }) },
        ],
      ],
    ])("SNAP-15 SNAP-17: %s is %s", async (attempt, code, answers) => {
      replica.answer(id, ...answers());
      await replica.refusal(id, code);
      noteAttempt(attempt, loot().node.name, code);
      if (code !== "SNAPSHOT_HELD_BACK") replica.answer(id, { head: head() }); // it polls without a pause again
      expect((await loot().node.running()).instance_id).toBe(runs);
    });
  });
}

async function newestOf(db: Database, id: NodeId): Promise<HeadContent["scopes"]> {
  const rows = await db<{ scope: string; epoch: number; version: number; content_hash: Digest }[]>`
    select scope_type as scope, authority_epoch as epoch, config_version as version, content_hash
    from snapshots where node_id = ${id}`;
  return Object.fromEntries(rows.map(({ scope, ...rest }) => [scope, rest]));
}

async function anOlderAssignment(db: Database, id: NodeId): Promise<Buffer> {
  const [row] = await db<{ header: Buffer; bytes: Buffer; signatures: Buffer }[]>`
    select h.header, c.bytes, h.signatures from snapshot_history h join snapshot_contents c using (content_hash)
    where h.node_id = ${id} and h.scope_type = 'service_assignment' order by h.config_version desc limit 1`;
  return joinFrame(row!.header, row!.bytes, row!.signatures);
}
