/** What can be taken back (SNAP-10): the seven kinds, as they stand in a head for the one node they concern. */
import { z } from "zod";

export const REVOCATION_KINDS = [
  "signing_key",
  "node_identity",
  "role_assignment",
  "service_assignment",
  "peer",
  "storage_endpoint",
  "degraded_permission",
] as const;
export const RevocationKind = z.enum(REVOCATION_KINDS);
export type RevocationKind = z.infer<typeof RevocationKind>;

/** `id`: a key id, node id, role, profile, endpoint id or degraded action, by its kind. */
export const Revocation = z.strictObject({
  kind: RevocationKind,
  id: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9._-]+$/),
});
export type Revocation = z.infer<typeof Revocation>;
