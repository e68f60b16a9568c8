// Calls in order: rollouts and groups, each brought to the state that the call needs.

import { randomUUID } from "node:crypto";
import type { NodeId } from "../../../src/core/ids.ts";
import { manualRequest } from "./creation-site.ts";
import { API, examplesFor, type Example, type Examples } from "./walk-example.ts";
import type { Walk } from "./walk-site.ts";

interface Made {
  readonly id: string;
  readonly nodeId: NodeId;
}

async function requestFor({ node }: Walk): Promise<{ nodeId: NodeId; request: Record<string, unknown> }> {
  const chain_profile_id = `roll-${randomUUID()}`;
  return { nodeId: await node(chain_profile_id), request: manualRequest({ chain_profile_id }) };
}

/** Pending, with one node. */
export async function newRollout(walk: Walk): Promise<Made> {
  const { nodeId, request } = await requestFor(walk);
  return { ...(await walk.make<{ id: string }>("POST", "/rollouts", request)), nodeId };
}

/** Running, with its node at work. */
export async function started(walk: Walk, made: Made): Promise<Made> {
  await walk.make("POST", `/rollouts/${made.id}/start`);
  await walk.advance(made.id);
  return made;
}

/** As if it had come so far: what led there is the drive's business. */
async function stoodAt(
  walk: Walk,
  status: string,
  { why = null, node = "pending" }: { why?: string | null; node?: string } = {},
): Promise<Made> {
  const made = await newRollout(walk);
  const { db } = walk;
  await db`update rollout_nodes set status = ${node} where rollout_id = ${made.id}`;
  await db`
    update rollouts set status = ${status}, current_batch = 0, rollback_allowed = true, started_at = now(),
      why = ${why === null ? null : db.json({ code: why, text: "as the test says" })}
    where id = ${made.id}`;
  return made;
}

const signal = (path: string, { id, nodeId }: Made): Example => ({
  url: `${API}/rollouts/${id}/${path.replace("{nodeId}", nodeId)}`,
  payload: { reason: "walked" },
  headers: { "idempotency-key": randomUUID() },
  status: 202,
});

const SIGNALS: Readonly<Record<string, (walk: Walk) => Promise<Made>>> = {
  start: newRollout,
  pause: async (walk) => started(walk, await newRollout(walk)),
  resume: (walk) => stoodAt(walk, "paused", { why: "OPERATOR" }),
  cancel: async (walk) => started(walk, await newRollout(walk)),
  force: (walk) => stoodAt(walk, "paused", { why: "THRESHOLD_EXCEEDED", node: "failed" }),
  "approve-canary": (walk) => stoodAt(walk, "paused", { why: "CANARY_APPROVAL", node: "succeeded" }),
  rollback: (walk) => stoodAt(walk, "paused", { why: "OPERATOR", node: "failed" }),
  retry: (walk) => stoodAt(walk, "paused", { why: "THRESHOLD_EXCEEDED", node: "failed" }),
  "nodes/{nodeId}/retry": (walk) => stoodAt(walk, "paused", { why: "THRESHOLD_EXCEEDED", node: "failed" }),
  "nodes/{nodeId}/skip": newRollout,
  "give-up": async (walk) => {
    const made = await started(walk, await newRollout(walk));
    await walk.db`update rollout_nodes set silent_since = now() where rollout_id = ${made.id}`;
    return made;
  },
  "nodes/{nodeId}/give-up": async (walk) => started(walk, await newRollout(walk)),
};

async function groupRequest(walk: Walk): Promise<Record<string, unknown>> {
  const { request } = await requestFor(walk);
  const { chain_profile_id, binary_name } = request;
  const component_order = [{ component_index: 0, binary_name, rollout: request }];
  const desired_versions = { web: "2.0.0" };
  return { id: randomUUID(), chain_profile_id, failure_policy: "manual", desired_versions, component_order };
}

const newGroup = async (walk: Walk): Promise<string> =>
  (await walk.make<{ id: string }>("POST", "/rollout-groups", await groupRequest(walk))).id;

async function startedGroup(walk: Walk): Promise<string> {
  const id = await newGroup(walk);
  await walk.make("POST", `/rollout-groups/${id}/start`);
  await walk.advanceGroup(id);
  return id;
}

async function groupWithFailure(walk: Walk, component: string): Promise<string> {
  const { db } = walk;
  const id = await startedGroup(walk);
  await db`update rollouts set status = ${component}, rollback_allowed = true where group_id = ${id}`;
  const why = db.json({ code: "COMPONENT_FAILED", text: "as the test says" });
  await db`update rollout_groups set status = 'paused', why = ${why}, failed_component = 0 where id = ${id}`;
  return id;
}

const GROUP_SIGNALS: Readonly<Record<string, (walk: Walk) => Promise<string>>> = {
  start: newGroup,
  pause: startedGroup,
  resume: (walk) => groupWithFailure(walk, "paused"),
  cancel: startedGroup,
  rollback: (walk) => groupWithFailure(walk, "paused"),
  skip: (walk) => groupWithFailure(walk, "failed"),
};

export const ROLLOUT_EXAMPLES: Examples = {
  [`POST ${API}/rollouts`]: async (walk) => ({
    url: `${API}/rollouts`,
    payload: (await requestFor(walk)).request,
    status: 201,
  }),
  [`GET ${API}/rollouts`]: async (walk) => {
    await newRollout(walk);
    return { url: `${API}/rollouts?limit=1&status=pending`, status: 200 };
  },
  [`GET ${API}/rollouts/{id}`]: async (walk) => ({
    url: `${API}/rollouts/${(await stoodAt(walk, "paused", { why: "OPERATOR" })).id}`,
    status: 200,
  }),
  [`GET ${API}/rollouts/{id}/nodes`]: async (walk) => ({
    url: `${API}/rollouts/${(await started(walk, await newRollout(walk))).id}/nodes?limit=1`,
    status: 200,
  }),
  ...examplesFor(SIGNALS, (path, state) => ({
    [`POST ${API}/rollouts/{id}/${path}`]: async (walk) => signal(path, await state(walk)),
  })),
  [`POST ${API}/rollout-groups`]: async (walk) => ({
    url: `${API}/rollout-groups`,
    payload: await groupRequest(walk),
    status: 201,
  }),
  [`GET ${API}/rollout-groups`]: async (walk) => {
    await startedGroup(walk);
    return { url: `${API}/rollout-groups?status=running&limit=1`, status: 200 };
  },
  ...examplesFor({ "": newGroup, "/status": startedGroup }, (end, state) => ({
    [`GET ${API}/rollout-groups/{id}${end}`]: async (walk) => ({
      url: `${API}/rollout-groups/${await state(walk)}${end}`,
      status: 200,
    }),
  })),
  ...examplesFor(GROUP_SIGNALS, (kind, state) => ({
    [`POST ${API}/rollout-groups/{id}/${kind}`]: async (walk) => ({
      url: `${API}/rollout-groups/${await state(walk)}/${kind}`,
      payload: { reason: "walked" },
      headers: { "idempotency-key": randomUUID() },
      status: 202,
    }),
  })),
};
