/** What the operators' API asks of the rest of the server. */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { ConfirmTimeRequest, TimeConfirmed } from "../../core/protocol/clock-api.ts";
import type {
  EventView,
  NodeUpgradeView,
  RolloutView,
  SignalRequest,
} from "../../core/protocol/operator-api.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import type { RolloutStatus, SignalKind } from "../../core/rollout/states.ts";
import type { GroupSignalKind, GroupStatus } from "../../core/group/states.ts";
import type { GroupCreate, GroupId, GroupSignalRequest, GroupView } from "../../core/protocol/group-api.ts";

export interface Page {
  readonly limit: number;
  readonly cursor?: string;
}

export interface RolloutFilter extends Page {
  readonly status?: RolloutStatus;
  readonly chain_profile_id?: string;
  readonly group_id?: string;
}

/** Who asks, for what node, why, and under which key the same wish may come again. */
export interface Asked {
  readonly nodeId?: NodeId;
  readonly actor: string;
  readonly request: SignalRequest;
  readonly idempotencyKey: string | undefined;
}

export interface RolloutService {
  create(request: RolloutCreate, actor: string): Promise<RolloutView>;
  list(filter: RolloutFilter): Promise<{ rollouts: RolloutView[]; next_cursor: string | null }>;
  get(id: RolloutId): Promise<RolloutView>;
  nodes(id: RolloutId, page: Page): Promise<{ nodes: NodeUpgradeView[]; next_cursor: string | null }>;
  signal(id: RolloutId, kind: SignalKind, asked: Asked): Promise<RolloutView>;
}

export interface GroupFilter extends Page {
  readonly status?: GroupStatus;
  readonly chain_profile_id?: string;
}

export interface AskedGroup extends Omit<Asked, "nodeId" | "request"> {
  readonly request: GroupSignalRequest;
}

export interface GroupService {
  create(request: GroupCreate, actor: string): Promise<GroupView>;
  list(filter: GroupFilter): Promise<{ groups: GroupView[]; next_cursor: string | null }>;
  get(id: GroupId): Promise<GroupView>;
  signal(id: GroupId, kind: GroupSignalKind, asked: AskedGroup): Promise<GroupView>;
}

export interface EventSource {
  /** Ends when the signal says so, or when `isAllowed` is asked before a page and says no. */
  subscribe(
    filter: { readonly rolloutId?: RolloutId; readonly after: number | "live" },
    signal: AbortSignal,
    isAllowed: () => Promise<boolean>,
  ): AsyncIterable<EventView>;
}

export type RevokeNode = (id: NodeId, actor: string, reason: string | null) => Promise<void>;

export type ConfirmTime = (request: ConfirmTimeRequest, actor: string) => Promise<TimeConfirmed>;

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}
