/** Enrollment keys as the operators' API takes and shows them: one secret with which many machines enroll. */
import { z } from "zod";
import { Instant, Name, NodeId, ProfileId, Uuid } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { NAME_TEMPLATE_DEFAULT, NameTemplate } from "../model/node-name.ts";
import { NodeRole } from "../snapshot/scopes.ts";
import { LongText } from "../text.ts";
import { EnrollmentTokenRequest } from "./operator-api.ts";

export const EnrollmentKeyId = Uuid.brand<"EnrollmentKeyId">();
export type EnrollmentKeyId = z.infer<typeof EnrollmentKeyId>;

const { chain_profile_ids, node_type, labels, roles, expires_in_seconds } = EnrollmentTokenRequest.shape;

export const EnrollmentKeyCreate = z.strictObject({
  /** For people; of two live keys no two share one. */
  name: Name,
  /** The names of the nodes, made of what each machine says about itself. */
  name_template: NameTemplate.default(NAME_TEMPLATE_DEFAULT),
  chain_profile_ids,
  node_type,
  labels,
  roles,
  /** How many machines may enroll with it. */
  uses_max: z.int().min(1).max(LIMITS.enrollmentKeyUsesMax),
  expires_in_seconds,
  /** A node waits until an operator approves it, and has no certificate before. */
  needs_approval: z.boolean().default(false),
  reason: LongText(LIMITS.reasonCharsMax).optional(),
});
export type EnrollmentKeyCreate = z.infer<typeof EnrollmentKeyCreate>;

export const EnrollmentKeyView = z.object({
  id: EnrollmentKeyId,
  name: z.string(),
  name_template: z.string(),
  chain_profile_ids: z.array(ProfileId),
  node_type: z.string(),
  labels: z.record(z.string(), z.string()),
  roles: z.array(NodeRole),
  uses: z.int(),
  uses_max: z.int(),
  /** Of its uses, those that wait for an approval. */
  pending: z.int(),
  needs_approval: z.boolean(),
  expires_at: Instant,
  created_by: z.string(),
  created_at: Instant,
  revoked_at: Instant.nullable(),
  /** Why no machine can enroll with it any more; null while one can. */
  ended: z.enum(["revoked", "expired", "used_up"]).nullable(),
});
export type EnrollmentKeyView = z.infer<typeof EnrollmentKeyView>;

export const EnrollmentKeyList = z.object({
  enrollment_keys: z.array(EnrollmentKeyView),
  next_cursor: z.string().nullable(),
});
export type EnrollmentKeyList = z.infer<typeof EnrollmentKeyList>;

/** The secret is answered once. The CLI puts it between pins that it knows itself. */
export const EnrollmentKeyCreated = z.object({ enrollment_key: EnrollmentKeyView, secret: z.string() });
export type EnrollmentKeyCreated = z.infer<typeof EnrollmentKeyCreated>;

/** Nodes that enrolled with it stay. */
export const EnrollmentKeyRevoke = z.strictObject({
  reason: LongText(LIMITS.reasonCharsMax).optional(),
});
export type EnrollmentKeyRevoke = z.infer<typeof EnrollmentKeyRevoke>;

export const NodeApproveRequest = z.strictObject({
  /** Refused when the machine that waits has another key. */
  key_id: z.string().max(100).optional(),
  reason: LongText(LIMITS.reasonCharsMax).optional(),
});
export type NodeApproveRequest = z.infer<typeof NodeApproveRequest>;

export const NodeApproved = z.object({ node_id: NodeId, name: z.string(), key_id: z.string() });
export type NodeApproved = z.infer<typeof NodeApproved>;
