/** Groups of rollouts as the operators' API takes and shows them (ROLL-11, ROLL-13, ROLL-18). */
import { z } from "zod";
import { FailurePolicy, GroupStatus } from "../group/states.ts";
import { Instant, ProfileId, RolloutId, Uuid, Version } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { ComponentCreate } from "../rollout/create.ts";
import { Strategy } from "../rollout/states.ts";
import { SignedIntent } from "./intent.ts";
import { RolloutView, SignalRequest, WhyView } from "./operator-api.ts";

export const GroupId = Uuid.brand<"GroupId">();
export type GroupId = z.infer<typeof GroupId>;

/** One component: its place, and its rollout as `POST /rollouts` would take it, intent included. */
const GroupComponent = z.strictObject({
  component_index: z
    .int()
    .min(0)
    .max(LIMITS.groupComponentsMax - 1),
  binary_name: z.string().min(1).max(100),
  rollout: ComponentCreate,
});
export type GroupComponent = z.infer<typeof GroupComponent>;

export const GroupCreate = z.strictObject({
  /** Made by the caller, so that a lost answer can be asked again. */
  id: GroupId,
  chain_profile_id: ProfileId,
  /** Required, no default (rule 9); text here, so that its absence is the rule's own code. */
  failure_policy: z.string().max(20).default(""),
  desired_versions: z.record(z.string().max(100), Version).default({}),
  component_order: z.array(GroupComponent).max(LIMITS.groupComponentsMax).default([]),
  strategy: Strategy.default("rolling"),
  /** How long a finished component is watched before the next begins. */
  health_wait_seconds: z
    .number()
    .min(0)
    .max(LIMITS.healthWaitMaxMs / 1000)
    .default(LIMITS.healthWaitDefaultMs / 1000),
});
export type GroupCreate = z.infer<typeof GroupCreate>;

export const GroupView = z.object({
  id: GroupId,
  chain_profile_id: ProfileId,
  status: GroupStatus,
  failure_policy: FailurePolicy,
  strategy: Strategy,
  desired_versions: z.record(z.string(), z.string()),
  current_component: z.int(),
  health_wait_seconds: z.number(),
  /** Until then the finished component is watched before the next begins. */
  gate_until: Instant.nullable(),
  pause_requested: z.boolean(),
  cancel_requested: z.boolean(),
  why: WhyView.nullable(),
  components: z.array(z.object({ component_index: z.int(), binary_name: z.string(), rollout: RolloutView })),
  created_by: z.string(),
  created_at: Instant,
  started_at: Instant.nullable(),
  ended_at: Instant.nullable(),
});
export type GroupView = z.infer<typeof GroupView>;
export const GroupList = z.object({ groups: z.array(GroupView), next_cursor: z.string().nullable() });

export const GroupSignalRequest = z.strictObject({
  reason: SignalRequest.shape.reason,
  /** With cancel: an empty intent for each component whose own is to be refused from now on. */
  void_intents: z
    .array(z.strictObject({ rollout_id: RolloutId, intent: SignedIntent }))
    .max(LIMITS.groupComponentsMax)
    .optional(),
});
export type GroupSignalRequest = z.infer<typeof GroupSignalRequest>;
