/** The model and its revocations, as the operators' API answers them. */
import { z } from "zod";
import { Instant, Name, NodeId, Uuid } from "../ids.ts";
import { MODEL_KINDS, Membership, RESOURCES, type ModelKind } from "../model/resources.ts";
import { RevocationKind } from "../snapshot/revocation.ts";

const view = <K extends ModelKind>(kind: K) =>
  z.object({ id: Uuid, name: Name, changed_at: Instant, spec: RESOURCES[kind].spec });

export const RESOURCE_VIEWS = Object.fromEntries(MODEL_KINDS.map((kind) => [kind, view(kind)])) as {
  [K in ModelKind]: ReturnType<typeof view<K>>;
};
export type ResourceView<K extends ModelKind = ModelKind> = z.infer<(typeof RESOURCE_VIEWS)[K]>;

export const resourceList = <K extends ModelKind>(kind: K) =>
  z.object({ items: z.array(RESOURCE_VIEWS[kind]), next_cursor: z.string().nullable() });

export const MembershipView = Membership.extend({ node_id: NodeId, node_name: z.string() });
export type MembershipView = z.infer<typeof MembershipView>;

export const RevocationView = z.object({
  seq: z.int(),
  kind: RevocationKind,
  subject: z.string(),
  /** What the subject is called, where it is an id of something with a name. */
  subject_name: z.string().nullable(),
  /** Null: for every node. */
  node_id: NodeId.nullable(),
  node_name: z.string().nullable(),
  reason: z.string().nullable(),
  actor: z.string(),
  created_at: Instant,
});
export type RevocationView = z.infer<typeof RevocationView>;
export const RevocationList = z.object({
  revocations: z.array(RevocationView),
  next_cursor: z.string().nullable(),
});
