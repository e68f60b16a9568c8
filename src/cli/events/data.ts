/** What events carry, as far as the CLI reads it. Loose on purpose: a newer server may say more. */
import { z } from "zod";
import type { EventView } from "../../core/protocol/operator-api.ts";
import { NodeUpgradeStatus, RolloutStatus } from "../../core/rollout/states.ts";
import { UpgradePhase } from "../../core/upgrade/phases.ts";

const Why = z.object({ code: z.string(), text: z.string() });
export type Why = z.infer<typeof Why>;

const StatusData = z.object({ from: RolloutStatus, to: RolloutStatus, why: Why.nullish() });
const BatchData = z.object({ batch: z.int() });
const SignalData = z.object({
  signal: z.string(),
  actor: z.string().nullish(),
  reason: z.string().nullish(),
  applied: z.boolean(),
});
const UpgradeData = z.object({
  status: NodeUpgradeStatus,
  phase: UpgradePhase.nullable(),
  action: z.string().nullable(),
  waitingFor: z.string().optional(),
  error: Why.nullish(),
});

export type KnownEvent =
  | ({ readonly kind: "rollout.status" } & z.infer<typeof StatusData>)
  | ({ readonly kind: "rollout.batch" } & z.infer<typeof BatchData>)
  | ({ readonly kind: "rollout.signal" } & z.infer<typeof SignalData>)
  | ({ readonly kind: "node.upgrade"; readonly nodeId: string } & z.infer<typeof UpgradeData>)
  | { readonly kind: "node.silence"; readonly nodeId: string; readonly isSilent: boolean }
  | { readonly kind: "other" };

export function knownEvent(event: EventView): KnownEvent {
  const read = <T>(schema: z.ZodType<T>): T | null => schema.safeParse(event.data).data ?? null;
  if (event.kind === "rollout.status") return tagged("rollout.status", read(StatusData));
  if (event.kind === "rollout.batch") return tagged("rollout.batch", read(BatchData));
  if (event.kind === "rollout.signal") return tagged("rollout.signal", read(SignalData));
  if (event.node_id !== null && (event.kind === "node.silent" || event.kind === "node.heard"))
    return { kind: "node.silence", nodeId: event.node_id, isSilent: event.kind === "node.silent" };
  if (event.kind !== "node.upgrade" || event.node_id === null) return { kind: "other" };
  const data = read(UpgradeData);
  return data === null ? { kind: "other" } : { kind: "node.upgrade", nodeId: event.node_id, ...data };
}

const tagged = <K extends string, T extends object>(
  kind: K,
  data: T | null,
): ({ kind: K } & T) | { kind: "other" } => (data === null ? { kind: "other" } : { kind, ...data });
