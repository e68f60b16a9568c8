/**
 * Check 10: nothing beyond the node's roles and organizations (SNAP-4, SNAP-5). First what the header grants, then that
 * the content stays within it. The compiler asks the second half before it signs.
 */
import type { Json } from "../core/json.ts";
import { NodeBootstrapContent } from "../core/snapshot/contents.ts";
import type { SnapshotHeader } from "../core/snapshot/envelope.ts";
import { mayHold } from "../core/snapshot/roles.ts";
import { fail, ok, type Failure, type Subject } from "./snapshot-subject.ts";

type JsonObject = { readonly [key: string]: Json | undefined };
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `node_bootstrap` brings the roles and organizations, so it is compared with itself: see `bootstrapAgrees`. */
export function grantWithinNode({ header, context }: Subject): Failure | null {
  if (header.scope_type === "node_bootstrap") return ok;
  const role = header.roles.find((name) => !context.roles.includes(name));
  if (role !== undefined)
    return fail("SNAPSHOT_SCOPE_EXCEEDED", "roles", `this node does not have the role ${role}`);
  const foreign = header.organization_ids.find((id) => !context.organizationIds.includes(id));
  if (foreign === undefined) return ok;
  return fail("SNAPSHOT_ORGANIZATION_FOREIGN", "organization_ids", `this node is no member of ${foreign}`);
}

export type Grant = Pick<
  SnapshotHeader,
  "scope_type" | "roles" | "organization_ids" | "subject_node_id" | "cluster_id"
>;

/** `organizations`: those that the content names, where they are known already. */
export function contentWithinGrant(
  grant: Grant,
  content: Json,
  organizations: ReadonlySet<string> | null = null,
): Failure | null {
  if (!isObject(content)) return ok; // check 11 says why
  for (const section of Object.keys(content)) {
    if (!mayHold(grant.scope_type, section, grant.roles))
      return fail("SNAPSHOT_SCOPE_EXCEEDED", section, "no role of the node may hold this section");
  }
  if (grant.scope_type === "node_bootstrap") return bootstrapAgrees(grant, content);
  const granted = new Set(grant.organization_ids);
  if (organizations?.isSubsetOf(granted) === true) return ok;
  const foreign = foreignOrganization(content, granted, "content");
  if (foreign === null) return ok;
  return fail("SNAPSHOT_ORGANIZATION_FOREIGN", foreign.path, `${foreign.id} is not named in the header`);
}

function bootstrapAgrees(grant: Grant, content: JsonObject): Failure | null {
  const refuse = (field: string, reason: string) => fail("SNAPSHOT_SCOPE_EXCEEDED", field, reason);
  const parsed = NodeBootstrapContent.safeParse(content);
  if (!parsed.success) return ok; // check 11 says why
  const { membership, cluster } = parsed.data;
  if (membership === undefined) return refuse("membership", "missing");
  if (membership.node_id !== grant.subject_node_id) return refuse("membership.node_id", "another node's");
  if (!sameSet(membership.roles, grant.roles)) return refuse("membership.roles", "not the header's");
  if (!sameSet(membership.organization_ids, grant.organization_ids))
    return refuse("membership.organization_ids", "not the header's");
  if (cluster !== undefined && cluster.cluster_id !== grant.cluster_id)
    return refuse("cluster.cluster_id", "another cluster's");
  return ok;
}

const sameSet = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((item) => right.includes(item));

/** Wherever it stands: a schema may grow a level, and this must not be forgotten then. */
function foreignOrganization(
  value: Json | undefined,
  allowed: ReadonlySet<string>,
  path: string,
): { readonly path: string; readonly id: string } | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const here = `${path}.${key}`;
    if (key === "organization_id" && typeof item === "string" && !allowed.has(item))
      return { path: here, id: item };
    const found = foreignOrganization(item, allowed, here);
    if (found !== null) return found;
  }
  return null;
}
