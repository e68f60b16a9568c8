/** Rollouts: create, look, steer. */
import { z } from "zod";
import { NodeId, ProfileId, RolloutId, Uuid } from "../../../core/ids.ts";
import {
  NodeUpgradeList,
  RolloutList,
  RolloutView,
  SignalRequest,
} from "../../../core/protocol/operator-api.ts";
import { RolloutCreate } from "../../../core/rollout/create.ts";
import { RolloutStatus, SIGNALS, type SignalKind } from "../../../core/rollout/states.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { RolloutService } from "../ports.ts";
import { pathOf, signalHeaders } from "../signal-path.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Rollouts"];
const params = z.strictObject({ id: RolloutId });
const nodeParams = z.strictObject({ id: RolloutId, nodeId: NodeId });
const listQuery = z.strictObject({
  status: RolloutStatus.exactOptional(),
  chain_profile_id: ProfileId.exactOptional(),
  group_id: Uuid.exactOptional(),
  ...pageQuery,
});

export function registerRolloutRoutes(app: ZodApp, { rollouts }: OperatorsDeps): void {
  app.post(
    "/rollouts",
    { schema: { tags, summary: "Create a rollout", body: RolloutCreate, response: { 201: RolloutView } } },
    async (request, reply) =>
      reply.code(201).send(await rollouts.create(request.body, principalOf(request).user)),
  );

  app.get(
    "/rollouts",
    {
      schema: {
        tags,
        summary: "List rollouts, newest first",
        querystring: listQuery,
        response: { 200: RolloutList },
      },
    },
    async (request) => rollouts.list(request.query),
  );

  app.get(
    "/rollouts/:id",
    { schema: { tags, summary: "One rollout", params, response: { 200: RolloutView } } },
    async (request) => rollouts.get(request.params.id),
  );

  app.get(
    "/rollouts/:id/nodes",
    {
      schema: {
        tags,
        summary: "A rollout's nodes, by batch and name",
        params,
        querystring: z.strictObject(pageQuery),
        response: { 200: NodeUpgradeList },
      },
    },
    async (request) => rollouts.nodes(request.params.id, request.query),
  );

  registerSignals(app, rollouts);
  registerNodeSignals(app, rollouts);
}

const SUMMARIES: { readonly [S in SignalKind]?: string } = {
  retry: "Retry every failed node",
  give_up: "Give up every node at work that is silent",
};
const NODE_SUMMARIES = {
  retry: "Retry a failed node",
  skip: "Leave a node out that has not begun",
  give_up: "Give up a node at work",
} as const;

/** All but `skip`, which is about one node. */
function registerSignals(app: ZodApp, rollouts: RolloutService): void {
  for (const kind of SIGNALS.filter((signal) => signal !== "skip")) {
    app.post(
      `/rollouts/:id/${pathOf(kind)}`,
      {
        schema: {
          tags,
          summary: SUMMARIES[kind] ?? `Ask a rollout to ${pathOf(kind)}`,
          params,
          headers: signalHeaders,
          body: SignalRequest.nullish(),
          response: { 202: RolloutView },
        },
      },
      async (request, reply) => {
        const actor = principalOf(request).user;
        const idempotencyKey = request.headers["idempotency-key"];
        const asked = { actor, request: request.body ?? {}, idempotencyKey };
        return reply.code(202).send(await rollouts.signal(request.params.id, kind, asked));
      },
    );
  }
}

function registerNodeSignals(app: ZodApp, rollouts: RolloutService): void {
  for (const kind of ["retry", "skip", "give_up"] as const) {
    app.post(
      `/rollouts/:id/nodes/:nodeId/${pathOf(kind)}`,
      {
        schema: {
          tags,
          summary: NODE_SUMMARIES[kind],
          params: nodeParams,
          headers: signalHeaders,
          body: SignalRequest.nullish(),
          response: { 202: RolloutView },
        },
      },
      async (request, reply) => {
        const { id, nodeId } = request.params;
        const actor = principalOf(request).user;
        const idempotencyKey = request.headers["idempotency-key"];
        const asked = { nodeId, actor, request: request.body ?? {}, idempotencyKey };
        return reply.code(202).send(await rollouts.signal(id, kind, asked));
      },
    );
  }
}
