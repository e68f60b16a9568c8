/**
 * Enrollment with tokens: the right of one node, once.
 *
 * 1. The first key that uses a token owns it. The same key may ask again; any other key is refused.
 * 2. Row locks are taken on nodes, then on tokens, each in one order, as a revocation and a new token take them: none of
 *    them comes in between, and none of them deadlocks with another.
 */
import type { NodeId } from "../../core/ids.ts";
import type { NodeRole } from "../../core/snapshot/scopes.ts";
import type { Transaction } from "../db/database.ts";
import { refusedAlike, type Applicant, type Decision } from "./applicant.ts";

interface TokenRow {
  readonly secret_hash: string;
  readonly node_id: NodeId;
  readonly used_by_key: string | null;
  readonly expired: boolean;
}

/** Of applicants whose secret is a token's; the others are left out. */
export async function enrollByToken(
  tx: Transaction,
  applicants: readonly Applicant[],
): Promise<Map<Applicant, Decision>> {
  const hashes = applicants.map(({ secretHash }) => secretHash);
  const nodes = await tx<{ id: NodeId; roles: NodeRole[] }[]>`
    select n.id, n.roles from enrollment_tokens t join nodes n on n.id = t.node_id
    where t.secret_hash = any(${hashes}) and n.revoked_at is null order by n.id for update of n`; // (2)
  const tokens = await tx<TokenRow[]>`
    select secret_hash, node_id, used_by_key, expires_at <= now() as expired
    from enrollment_tokens where secret_hash = any(${hashes}) order by node_id for update`; // (2)
  const rolesOf = new Map(nodes.map(({ id, roles }) => [id, roles]));
  const tokenOf = new Map(tokens.map((token) => [token.secret_hash, token]));
  const usedBy = new Map(tokens.map(({ secret_hash, used_by_key }) => [secret_hash, used_by_key]));
  const decisions = new Map<Applicant, Decision>();
  const used: { readonly secretHash: string; readonly keyHash: string }[] = [];
  for (const applicant of applicants) {
    const { secretHash, key } = applicant;
    const token = tokenOf.get(secretHash);
    if (token === undefined) continue;
    const roles = rolesOf.get(token.node_id);
    const owner = usedBy.get(secretHash) ?? null;
    if (roles === undefined || (owner !== null && owner !== key.keyHash)) {
      decisions.set(applicant, refusedAlike()); // (1)
    } else if (owner !== null) {
      decisions.set(applicant, { kind: "again", nodeId: token.node_id, roles });
    } else if (token.expired) {
      decisions.set(applicant, refusedAlike());
    } else {
      usedBy.set(secretHash, key.keyHash);
      used.push({ secretHash, keyHash: key.keyHash });
      decisions.set(applicant, { kind: "enrolled", nodeId: token.node_id, roles });
    }
  }
  if (used.length > 0)
    await tx`
      update enrollment_tokens t set used_by_key = u.key_hash
      from unnest(${used.map(({ secretHash }) => secretHash)}::text[], ${used.map(({ keyHash }) => keyHash)}::text[])
        as u(secret_hash, key_hash)
      where t.secret_hash = u.secret_hash`;
  return decisions;
}
