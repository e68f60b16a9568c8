// Nodes, organizations and the rest of the model as rows, and a key to sign for them.

import { randomUUID } from "node:crypto";
import type { NodeId } from "../../../src/core/ids.ts";
import type { CompiledScope } from "../../../src/core/snapshot/roles.ts";
import { SCOPES, ScopeType, type NodeRole } from "../../../src/core/snapshot/scopes.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { ensureCluster } from "../../../src/server/identity/cluster.ts";
import type { Authority } from "../../../src/server/snapshots/authority.ts";
import { publishDirty, type PublishedSet } from "../../../src/server/snapshots/dirty.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { signTrustBundle } from "../../support/server/trust-bundle.ts";

export type Fleet = Awaited<ReturnType<typeof createFleet>>;

export async function createFleet(db: Database) {
  const { signer } = generateSigner();
  const root = generateSigner().signer;
  const authority: Authority = { clusterId: await ensureCluster(db), signers: () => [signer] };

  /** A trust bundle under which every scope may be signed here. */
  async function believe(epoch = 1, bundle: Partial<TrustBundle> = {}): Promise<void> {
    const now = Date.now();
    const scopes = ScopeType.options.filter((scope) => SCOPES[scope].signer === "online");
    const valid_from = new Date(now - 60_000).toISOString();
    const valid_until = new Date(now + 365 * 24 * 3_600_000).toISOString();
    const { frame, content } = signTrustBundle(
      { clusterId: authority.clusterId, root, online: signer },
      {
        bundle: { online_keys: [{ ...signer.record, valid_from, valid_until, scopes }], ...bundle },
        draft: { epoch },
      },
    );
    await db`
      insert into trust_bundles (epoch, version, frame, content) values (${epoch}, 1, ${frame}, ${db.json(content)})`;
  }

  async function node(
    roles: readonly NodeRole[],
    {
      organizations = [],
      address = null,
    }: { organizations?: readonly string[]; address?: string | null } = {},
  ): Promise<NodeId> {
    const id = randomUUID() as NodeId;
    await db`
      insert into nodes (id, name, node_type, roles, enrolled_at)
      values (${id}, ${`node-${id}`}, 'edge', ${roles as string[]}, now())`;
    for (const organization of organizations)
      await db`insert into memberships (node_id, organization_id) values (${id}, ${organization})`;
    if (address !== null) await db`insert into peer_addresses (node_id, address) values (${id}, ${address})`;
    return id;
  }

  const added = async (rows: Promise<readonly { id: string }[]>): Promise<string> => (await rows)[0]!.id;
  const organization = (name: string) =>
    added(db<{ id: string }[]>`insert into organizations (name) values (${name}) returning id`);

  const route = (name: string, owner: string | null = null, roles: readonly NodeRole[] = []) =>
    added(db<{ id: string }[]>`
      insert into policies (kind, name, organization_id, roles, body)
      values ('route', ${name}, ${owner}, ${roles as string[]},
        ${db.json({ destinations: ["10.0.0.0/8"], via: "mesh", ttl_ms: 60_000 })}) returning id`);

  /** What is marked now, as `node scope`, in order; each once. */
  const marked = async (): Promise<string[]> => {
    const rows = await db<{ mark: string }[]>`
      select distinct node_id || ' ' || scope_type as mark from snapshot_dirty order by 1`;
    return rows.map((row) => row.mark);
  };
  const of = (scope: CompiledScope, ...ids: NodeId[]): string[] =>
    ids.map((id) => `${id} ${scope}`).toSorted();

  /** Works off every mark, as the loop does. */
  async function compileAll(now: () => number = Date.now): Promise<PublishedSet[]> {
    const sets: PublishedSet[] = [];
    for (;;) {
      const set = await publishDirty(db, authority, now);
      if (set.claimed === 0) return sets;
      sets.push(set);
    }
  }

  const contentOf = async (id: NodeId, scope: CompiledScope): Promise<Record<string, unknown>> => {
    const [row] = await db<{ bytes: Buffer }[]>`
      select c.bytes from snapshots s join snapshot_contents c using (content_hash)
      where s.node_id = ${id} and s.scope_type = ${scope}`;
    return JSON.parse(row!.bytes.toString("utf8")) as Record<string, unknown>;
  };
  const versions = async (): Promise<Record<string, number>> => {
    const rows = await db<{ key: string; version: number }[]>`
      select node_id || ' ' || scope_type as key, config_version as version from snapshots`;
    return Object.fromEntries(rows.map(({ key, version }) => [key, version]));
  };

  return {
    db,
    authority,
    signer,
    root: { threshold: 1, keys: [root.record] },
    believe,
    node,
    organization,
    route,
    marked,
    of,
    compileAll,
    contentOf,
    versions,
  };
}
