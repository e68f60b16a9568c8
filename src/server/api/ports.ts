/** What the operators' API asks of the rest of the server. */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type {
  EventView,
  NodeUpgradeView,
  RolloutView,
  SignalRequest,
} from "../../core/protocol/operator-api.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import type { RolloutStatus, SignalKind } from "../../core/rollout/states.ts";

export interface Page {
  readonly limit: number;
  readonly cursor?: string;
}

export interface RolloutFilter extends Page {
  readonly status?: RolloutStatus;
  readonly chain_profile_id?: string;
}

export interface RolloutService {
  create(request: RolloutCreate, actor: string): Promise<RolloutView>;
  list(filter: RolloutFilter): Promise<{ rollouts: RolloutView[]; next_cursor: string | null }>;
  get(id: RolloutId): Promise<RolloutView>;
  nodes(id: RolloutId, page: Page): Promise<{ nodes: NodeUpgradeView[]; next_cursor: string | null }>;
  signal(
    id: RolloutId,
    kind: SignalKind,
    actor: string,
    request: SignalRequest,
    idempotencyKey?: string,
  ): Promise<RolloutView>;
}

export interface EventSource {
  subscribe(
    filter: { readonly rolloutId?: RolloutId; readonly after: number | "live" },
    signal: AbortSignal,
  ): AsyncIterable<EventView>;
}

export type RevokeNode = (id: NodeId, actor: string, reason: string | null) => Promise<void>;

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}
