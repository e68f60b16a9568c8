/** Rollouts: create, look, steer. */
import { z } from "zod";
import { ProfileId, RolloutId } from "../../../core/ids.ts";
import {
  NodeUpgradeList,
  RolloutList,
  RolloutView,
  SignalRequest,
} from "../../../core/protocol/operator-api.ts";
import { RolloutCreate } from "../../../core/rollout/create.ts";
import { RolloutStatus, SIGNALS } from "../../../core/rollout/states.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Rollouts"];
const params = z.strictObject({ id: RolloutId });
/** A caller that may ask twice for one wish sends the same key with both. */
const headers = z.object({ "idempotency-key": z.string().min(8).max(200).exactOptional() });
const listQuery = z.strictObject({
  status: RolloutStatus.exactOptional(),
  chain_profile_id: ProfileId.exactOptional(),
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

  for (const kind of SIGNALS) {
    app.post(
      `/rollouts/:id/${kind}`,
      {
        schema: {
          tags,
          summary: `Ask a rollout to ${kind}`,
          params,
          headers,
          body: SignalRequest.nullish(),
          response: { 202: RolloutView },
        },
      },
      async (request, reply) => {
        const { user } = principalOf(request);
        const key = request.headers["idempotency-key"];
        return reply
          .code(202)
          .send(await rollouts.signal(request.params.id, kind, user, request.body ?? {}, key));
      },
    );
  }
}
