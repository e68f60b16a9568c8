/**
 * Creates a group and all of its components (ROLL-2, rules 8 and 9).
 *
 * 1. One transaction: a component that is refused leaves nothing behind.
 * 2. Asked again with the same id and the same wish, the answer is the group that stands.
 */
import { checkGroupComponents, checkGroupShape } from "../../core/group/creation-rules.ts";
import type { FailurePolicy } from "../../core/group/states.ts";
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import type { GroupCreate, GroupId } from "../../core/protocol/group-api.ts";
import { digestOfJson } from "../../trust/digest.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents, type NewEvent } from "../events/append.ts";
import { placeRollout, type CreateDeps } from "../rollout/create.ts";
import { prepareRollout, type PreparedRollout } from "../rollout/prepare.ts";
import { explainConflict, lockProfiles, refuseSecondActive } from "../rollout/profile-claim.ts";

export async function createGroup(deps: CreateDeps, request: GroupCreate, actor: string): Promise<GroupId> {
  const policy = checkGroupShape(request);
  const prepared: PreparedRollout[] = [];
  for (const { rollout } of request.component_order) {
    const { strategy = request.strategy } = rollout;
    prepared.push(await prepareRollout(deps, { ...rollout, strategy }));
  }
  checkGroupComponents(
    request,
    prepared.map(({ proposal }) => proposal),
  );
  const profiles = [
    request.chain_profile_id,
    ...request.component_order.map(({ rollout }) => rollout.chain_profile_id),
  ];
  await deps.db.begin(async (tx) => {
    await lockProfiles(tx, profiles);
    if (await standsAlready(tx, request)) return; // (2)
    await refuseSecondActive(tx, profiles);
    await insertGroup(tx, request, policy, actor);
    const events: NewEvent[] = [];
    const taken = new Map<string, number>();
    for (const [componentIndex, component] of prepared.entries()) {
      const membership = { groupId: request.id, componentIndex };
      const nodes = await placeRollout(tx, deps, component, actor, membership);
      refuseShared({ nodes, profile: component.request.chain_profile_id }, componentIndex, taken);
      const data = { nodes: nodes.length, target_version: component.proposal.targetVersion };
      const { id: rollout_id } = component.request;
      events.push({ kind: "rollout.created", group_id: request.id, rollout_id, actor, data });
    }
    const data = { components: prepared.length, failure_policy: policy };
    await appendEvents(tx, [{ kind: "group.created", group_id: request.id, actor, data }, ...events]);
  });
  return request.id;
}

/** What was asked for, without the signatures: an intent signed a second time is the same wish. */
const definitionOf = ({ component_order, chain_profile_id, failure_policy, ...rest }: GroupCreate): Json => ({
  chain_profile_id,
  failure_policy,
  desired_versions: rest.desired_versions,
  strategy: rest.strategy,
  health_wait_ms: Math.round(rest.health_wait_seconds * 1000),
  component_order: componentsOf(component_order),
});

const componentsOf = (components: GroupCreate["component_order"]): Json =>
  components.map(({ rollout: { intent: _intent, ...rollout }, ...place }) => ({ ...place, rollout }));

async function standsAlready(tx: Transaction, request: GroupCreate): Promise<boolean> {
  const [stands] = await tx<Record<string, Json>[]>`
    select chain_profile_id, failure_policy, desired_versions, strategy, health_wait_ms, component_order
    from rollout_groups where id = ${request.id}`;
  if (stands === undefined) return false;
  const { health_wait_ms, ...rest } = stands;
  const same =
    digestOfJson({ ...rest, health_wait_ms: Number(health_wait_ms) }) === digestOfJson(definitionOf(request));
  if (!same)
    throw new FairleadError("STATE_MOVED", `group ${request.id} exists already, with another content`);
  return true;
}

async function insertGroup(
  tx: Transaction,
  request: GroupCreate,
  policy: FailurePolicy,
  actor: string,
): Promise<void> {
  const row = {
    id: request.id,
    chain_profile_id: request.chain_profile_id,
    status: "pending",
    failure_policy: policy,
    component_order: tx.json(componentsOf(request.component_order)),
    desired_versions: tx.json(request.desired_versions),
    strategy: request.strategy,
    health_wait_ms: Math.round(request.health_wait_seconds * 1000),
    created_by: actor,
  };
  try {
    await tx`insert into rollout_groups ${tx(row)}`;
  } catch (error) {
    throw explainConflict(error, `group ${request.id}`, request.chain_profile_id);
  }
}

interface Placed {
  readonly nodes: readonly NodeId[];
  readonly profile: ProfileId;
}

/**
 * A program that an earlier component moves is no longer at the version that a later one begins from. Two programs of one
 * node may be two components.
 */
function refuseShared({ nodes, profile }: Placed, component: number, taken: Map<string, number>): void {
  for (const node of nodes) {
    const key = `${node} ${profile}`;
    const other = taken.get(key);
    if (other !== undefined)
      throw new FairleadError(
        "INVALID_INPUT",
        `${profile} on node ${node} is in component ${other} and in component ${component}: choose by labels or node_ids`,
        { node_id: node },
      );
    taken.set(key, component);
  }
}
