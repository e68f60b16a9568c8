/** Events as the server stores them, read into a union: what a page does not know, it passes over. */
import { z } from "zod";
import { ProfileId } from "../../core/ids.ts";
import { EventView, WhyView } from "../../core/protocol/operator-api.ts";
import { NodeUpgradeStatus, RolloutStatus, SignalKind } from "../../core/rollout/states.ts";
import { Direction } from "../../core/upgrade/job.ts";
import { UpgradePhase } from "../../core/upgrade/phases.ts";

const DATA = {
  "rollout.created": z.object({}),
  "rollout.status": z.object({
    from: RolloutStatus,
    to: RolloutStatus,
    why: WhyView.nullable().default(null),
  }),
  "rollout.batch": z.object({ batch: z.int(), direction: Direction.default("forward") }),
  "rollout.signal": z.object({
    signal: SignalKind,
    actor: z.string().nullable().default(null),
    reason: z.string().nullable().default(null),
    applied: z.boolean(),
  }),
  "rollout.intent_voided": z.object({ reason: z.string().nullable().default(null) }),
  "node.upgrade": z.object({
    status: NodeUpgradeStatus,
    phase: UpgradePhase.nullable(),
    action: z.string().nullable(),
    waitingFor: ProfileId.nullable().default(null),
    error: WhyView.nullable().default(null),
    /** Only a launch says it. */
    direction: Direction.optional(),
    attempt: z.int().optional(),
  }),
  "node.silent": z.object({ since: z.string(), reason: z.string().nullable().default(null) }),
  "node.heard": z.object({}),
  "group.status": z.object({}),
  "group.component": z.object({}),
  "group.signal": z.object({}),
  "incident.opened": z.object({ title: z.string().default("") }),
  "incident.acknowledged": z.object({}),
  "incident.resolved": z.object({}),
  "node.state": z.object({}),
  "node.pending": z.object({}),
  "node.approved": z.object({}),
  "node.enrolled": z.object({}),
  "node.revoked": z.object({}),
  "node.rejection": z.object({}),
  "node.membership": z.object({}),
  "node.profile.added": z.object({}),
  "node.profile.removed": z.object({}),
  "model.changed": z.object({}),
  "authority.revoked": z.object({}),
  "authority.restored": z.object({}),
} as const;

type Kind = keyof typeof DATA;
interface Common {
  readonly id: number;
  readonly at: string;
  readonly actor: string | null;
  readonly nodeId: string | null;
}
export type FleetEvent = {
  [K in Kind]: Common & { readonly kind: K; readonly data: z.infer<(typeof DATA)[K]> };
}[Kind];
export type EventOf<K extends Kind> = Extract<FleetEvent, { kind: K }>;

export const EVENT_KINDS = Object.keys(DATA) as readonly Kind[];
const isKind = (kind: string): kind is Kind => Object.hasOwn(DATA, kind);

/** Null: of a newer server, or damaged. The page then relies on reading the rows again. */
export function readEvent(text: string): FleetEvent | null {
  const event = EventView.safeParse(jsonOf(text));
  if (!event.success || !isKind(event.data.kind)) return null;
  const { id, at, kind, actor, node_id } = event.data;
  const data = DATA[kind].safeParse(event.data.data);
  if (!data.success) return null;
  return { id, at, kind, actor, nodeId: node_id, data: data.data } as FleetEvent;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
