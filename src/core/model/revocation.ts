/** What an operator may take back and give again by hand (SNAP-10). Keys and node identities have commands of their own. */
import { z } from "zod";
import { DegradedAction } from "../degraded/actions.ts";
import { Digest, NodeId, ProfileId, RolloutId, Uuid } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { NodeRole } from "../snapshot/scopes.ts";

/** What stands for the thing taken back, by kind. */
const SUBJECTS = {
  role_assignment: NodeRole,
  service_assignment: ProfileId,
  peer: NodeId,
  storage_endpoint: Uuid,
  degraded_permission: DegradedAction,
  /** A fingerprint, or the rollout that names it. */
  artifact: z.union([Digest, RolloutId]),
  /** The digest of arguments, environment and user, or the rollout that names them. */
  run: z.union([Digest, RolloutId]),
} as const;
export type LiftableKind = keyof typeof SUBJECTS;
export const LIFTABLE_KINDS = Object.keys(SUBJECTS) as [LiftableKind, ...LiftableKind[]];
export const LiftableKind = z.enum(LIFTABLE_KINDS);

const entry = <K extends LiftableKind>(kind: K) =>
  z.strictObject({
    kind: z.literal(kind),
    subject: SUBJECTS[kind],
    /** Null: for every node. */
    node_id: NodeId.nullable().default(null),
    reason: z.string().max(LIMITS.reasonCharsMax).nullable().default(null),
  });

export const RevocationRequest = z.discriminatedUnion("kind", [
  entry("role_assignment"),
  entry("service_assignment"),
  entry("peer"),
  entry("storage_endpoint"),
  entry("degraded_permission"),
  entry("artifact"),
  entry("run"),
]);
export type RevocationRequest = z.infer<typeof RevocationRequest>;
