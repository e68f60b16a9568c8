/** What was published for a node, against what it says it holds: rows and the newest heartbeat, judged scope by scope. */
import { FairleadError, nextOf } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import { checkName } from "../../core/model/checks.ts";
import {
  SNAPSHOT_STATES,
  sameVersion,
  snapshotState,
  wantsAttention,
} from "../../core/model/snapshot-state.ts";
import { AppliedVersions, Rejection } from "../../core/protocol/agent-api.ts";
import type {
  NodeAuthority,
  NodeSnapshots,
  RejectionView,
  ScopeView,
} from "../../core/protocol/snapshot-api.ts";
import { scopesOf } from "../../core/snapshot/roles.ts";
import { SCOPES, type NodeRole, type ScopeType } from "../../core/snapshot/scopes.ts";
import type { Database } from "../db/database.ts";
import { readScopeRows, type ScopeRow } from "./snapshot-rows.ts";

export interface NodeStanding {
  readonly id: NodeId;
  readonly name: string;
  readonly roles: NodeRole[];
  readonly organizations: string[];
  readonly received_at: Date | null;
  readonly applied: unknown;
  readonly last_rejection: unknown;
}

export async function nodeSnapshots(db: Database, id: NodeId, now: number): Promise<NodeSnapshots> {
  const [node] = await db<NodeStanding[]>`${selectStanding(db)} where n.id = ${id}`;
  if (node === undefined) throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
  const rows = await readScopeRows(db, [id], { history: true });
  return {
    node_id: node.id,
    node_name: node.name,
    roles: node.roles,
    organizations: node.organizations,
    last_heartbeat_at: node.received_at?.toISOString() ?? null,
    snapshots: scopeViews(node, rows.get(id) ?? [], now),
  };
}

export const selectStanding = (db: Database) => db`
  select n.id, n.name, n.roles, hb.received_at, hb.applied, hb.last_rejection,
    array(select o.name from memberships m join organizations o on o.id = m.organization_id
      where m.node_id = n.id order by o.name) as organizations
  from nodes n left join node_heartbeats hb on hb.node_id = n.id`;

/** What all others are believed by comes first. */
const ORDER: readonly ScopeType[] = [
  "trust_bundle",
  ...(Object.keys(SCOPES) as ScopeType[]).filter((scope) => scope !== "trust_bundle"),
];

/** The scopes that were published, that the node holds, and that its roles call for. */
function scopeViews(node: NodeStanding, rows: readonly ScopeRow[], now: number): ScopeView[] {
  const applied = AppliedVersions.catch({}).parse(node.applied ?? {});
  const rejection = Rejection.nullable()
    .catch(null)
    .parse(node.last_rejection ?? null);
  const called: readonly ScopeType[] = ["trust_bundle", ...scopesOf(node.roles)];
  return ORDER.flatMap((scope) => {
    const row = rows.find((each) => each.scope === scope);
    const has = applied[scope] ?? null;
    if (row === undefined && has === null && !called.includes(scope)) return [];
    return [scopeView(scope, row, has, rejection?.scope === scope ? rejection : null, now)];
  });
}

function scopeView(
  scope: ScopeType,
  row: ScopeRow | undefined,
  applied: ScopeView["applied"],
  rejection: Rejection | null,
  now: number,
): ScopeView {
  const published = row?.published ?? null;
  const held =
    applied === null
      ? undefined
      : [published, ...(row?.earlier ?? [])].find((each) => each !== null && sameVersion(each, applied));
  const appliedExpiresAt = held?.expires_at ?? null;
  const state = snapshotState(
    {
      published: published === null ? null : { ...published, ...timesOf(published) },
      applied,
      appliedExpiresAt: appliedExpiresAt === null ? null : Date.parse(appliedExpiresAt),
      rejection:
        rejection === null ? null : { version: rejection.version ?? null, at: Date.parse(rejection.at) },
      refused: row?.refusal != null,
    },
    now,
  );
  return {
    scope,
    state,
    published,
    applied,
    applied_expires_at: appliedExpiresAt,
    rejection: rejection === null ? null : rejectionView(rejection),
    refusal: row?.refusal ?? null,
  };
}

const timesOf = (published: NonNullable<ScopeView["published"]>) => ({
  issuedAt: Date.parse(published.issued_at),
  refreshAfter: Date.parse(published.refresh_after),
  expiresAt: Date.parse(published.expires_at),
});

const rejectionView = (rejection: Rejection): RejectionView => ({
  code: rejection.code,
  reason: rejection.reason,
  at: rejection.at,
  step: rejection.step ?? null,
  check: rejection.step === undefined ? null : checkName(rejection.step),
  field: rejection.field ?? null,
  version: rejection.version ?? null,
  remedy: nextOf(rejection.code, "node"),
});

export function authorityOf(node: NodeStanding, rows: readonly ScopeRow[], now: number): NodeAuthority {
  const views = scopeViews(node, rows, now);
  const counts = Object.fromEntries(
    SNAPSHOT_STATES.map((state) => [state, views.filter((view) => view.state === state).length]),
  ) as NodeAuthority["counts"];
  const attention = views
    .filter((view) => wantsAttention(view.state))
    .toSorted((a, b) => SNAPSHOT_STATES.indexOf(a.state) - SNAPSHOT_STATES.indexOf(b.state))
    .map(({ scope, state, rejection, refusal, published, applied_expires_at }) => ({
      scope,
      state,
      code: state === "rejected" ? (rejection?.code ?? null) : (refusal?.code ?? null),
      expires_at: applied_expires_at ?? published?.expires_at ?? null,
    }));
  return {
    node_id: node.id,
    node_name: node.name,
    last_heartbeat_at: node.received_at?.toISOString() ?? null,
    counts,
    attention,
  };
}
