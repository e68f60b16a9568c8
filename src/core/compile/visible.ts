/** Whose rows a node may see (SNAP-4): its organizations', and those of no organization; never what was revoked for it. */
import type { RevocationKind } from "../snapshot/revocation.ts";
import type { NodeState } from "./rows.ts";

export const isFor = ({ node }: NodeState, organizationId: string | null): boolean =>
  organizationId === null || node.organizationIds.includes(organizationId);

export const isRevoked = (
  { revoked }: Pick<NodeState, "revoked">,
  kind: RevocationKind,
  id: string,
): boolean => revoked.some((each) => each.kind === kind && each.id === id);
