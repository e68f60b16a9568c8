/**
 * What can be taken back (SNAP-10): the source's seven kinds, an artifact and a run, as they stand in a head for the one
 * node they concern.
 */
import { z } from "zod";

export const REVOCATION_KINDS = [
  "signing_key",
  "node_identity",
  "role_assignment",
  "service_assignment",
  "peer",
  "storage_endpoint",
  "degraded_permission",
  "artifact",
  "run",
] as const;
export const RevocationKind = z.enum(REVOCATION_KINDS);
export type RevocationKind = z.infer<typeof RevocationKind>;

/** Kinds that agents before `REVOKES_BYTES` do not read: a head that names one is refused by them as a whole. */
export const NEWER_KINDS: readonly RevocationKind[] = ["artifact", "run"];

/** `id`: a key id, node id, role, profile, endpoint id, degraded action, fingerprint or run digest, by its kind. */
export const Revocation = z.strictObject({
  kind: RevocationKind,
  id: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9._:-]+$/),
});
export type Revocation = z.infer<typeof Revocation>;

/** What a head names inline is bounded; beyond that it names pages by their digest, and none is left out. */
export const REVOCATIONS_PER_PAGE = 500;
export const REVOCATION_PAGES_MAX = 1_000;
/** A head names two sets, its node's own and the one for all nodes: each may fill half of the pages. */
const REVOCATIONS_PER_SET_MAX = (REVOCATION_PAGES_MAX / 2) * REVOCATIONS_PER_PAGE;
/** By requests of operators. The rest is room for nodes and signing keys, whose revocation is never refused. */
export const REQUESTED_REVOCATIONS_MAX = 0.8 * REVOCATIONS_PER_SET_MAX;
export const RevocationPage = z.array(Revocation).min(1).max(REVOCATIONS_PER_PAGE);

export interface PagedRevocations {
  readonly pages: readonly (readonly Revocation[])[];
  readonly rest: readonly Revocation[];
}

/** Oldest first: a page that is full stays as it is until something in it is lifted. */
export function pageRevocations(oldestFirst: readonly Revocation[]): PagedRevocations {
  const paged = Math.floor(Math.max(0, oldestFirst.length - 1) / REVOCATIONS_PER_PAGE);
  return {
    pages: Array.from({ length: paged }, (_, at) =>
      oldestFirst.slice(at * REVOCATIONS_PER_PAGE, (at + 1) * REVOCATIONS_PER_PAGE),
    ),
    rest: oldestFirst.slice(paged * REVOCATIONS_PER_PAGE),
  };
}
