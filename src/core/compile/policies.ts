/** Which policies apply to a node, and which one where there can be only one. */
import { DegradedBody, SessionsBody } from "../snapshot/contents.ts";
import type { Json } from "../json.ts";
import type { NodeState, PolicyKind, PolicyRow } from "./rows.ts";
import { compare, sortedById } from "./sorted.ts";
import { isFor, isRevoked } from "./visible.ts";

export const policiesOf = (state: NodeState, kind: PolicyKind): PolicyRow[] =>
  sortedById(
    state.cluster.policies.filter(
      (policy) =>
        policy.kind === kind &&
        isFor(state, policy.organizationId) &&
        (policy.roles.length === 0 || policy.roles.some((role) => state.node.roles.includes(role))),
    ),
  );

/** The nearest to the node: its organization's before everyone's, for its role before for all, then by name. */
function nearest(policies: readonly PolicyRow[]): PolicyRow | undefined {
  const distance = (policy: PolicyRow) =>
    (policy.organizationId === null ? 2 : 0) + (policy.roles.length === 0 ? 1 : 0);
  return policies.toSorted((a, b) => distance(a) - distance(b) || compare(a.name, b.name))[0];
}

/** None means that nothing is allowed. */
export function degradedPolicy(state: NodeState): Json | undefined {
  const policy = nearest(policiesOf(state, "degraded_mode"));
  if (policy === undefined) return undefined;
  const body = DegradedBody.parse(policy.body);
  return {
    ...body,
    allowed: body.allowed
      .filter((action) => !isRevoked(state, "degraded_permission", action))
      .toSorted(compare),
    policy_id: policy.id,
    name: policy.name,
    organization_id: policy.organizationId,
  };
}

/** Absent without an owner: agents that do not know the field refuse content that has it. */
export const ownedSince = (organizationId: string | null): { readonly organization_id?: string } =>
  organizationId === null ? {} : { organization_id: organizationId };

export function sessionPolicy(state: NodeState): Json | undefined {
  const policy = nearest(policiesOf(state, "sessions"));
  if (policy === undefined) return undefined;
  return { ...SessionsBody.parse(policy.body), ...ownedSince(policy.organizationId) };
}
