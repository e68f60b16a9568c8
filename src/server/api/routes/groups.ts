/** Groups of rollouts: create, look, steer (ROLL-11, ROLL-18). */
import { z } from "zod";
import { GROUP_SIGNALS, GroupStatus } from "../../../core/group/states.ts";
import { ProfileId } from "../../../core/ids.ts";
import {
  GroupCreate,
  GroupId,
  GroupList,
  GroupSignalRequest,
  GroupView,
} from "../../../core/protocol/group-api.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import { signalHeaders } from "../signal-path.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Rollout groups"];
const params = z.strictObject({ id: GroupId });
const listQuery = z.strictObject({
  status: GroupStatus.exactOptional(),
  chain_profile_id: ProfileId.exactOptional(),
  ...pageQuery,
});

export function registerGroupRoutes(app: ZodApp, { groups }: OperatorsDeps): void {
  app.post(
    "/rollout-groups",
    {
      schema: {
        tags,
        summary: "Create a group and its components",
        body: GroupCreate,
        response: { 201: GroupView },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await groups.create(request.body, principalOf(request).user)),
  );

  app.get(
    "/rollout-groups",
    {
      schema: {
        tags,
        summary: "List groups, newest first",
        querystring: listQuery,
        response: { 200: GroupList },
      },
    },
    async (request) => groups.list(request.query),
  );

  const look = {
    "/rollout-groups/:id": "One group with its components",
    "/rollout-groups/:id/status": "A group's state and the progress of each component",
  };
  for (const [path, summary] of Object.entries(look)) {
    app.get(path, { schema: { tags, summary, params, response: { 200: GroupView } } }, async (request) =>
      groups.get(request.params.id),
    );
  }

  for (const kind of GROUP_SIGNALS) {
    app.post(
      `/rollout-groups/:id/${kind}`,
      {
        schema: {
          tags,
          summary: `Ask a group to ${kind}`,
          params,
          headers: signalHeaders,
          body: GroupSignalRequest.nullish(),
          response: { 202: GroupView },
        },
      },
      async (request, reply) => {
        const actor = principalOf(request).user;
        const idempotencyKey = request.headers["idempotency-key"];
        const asked = { actor, request: request.body ?? {}, idempotencyKey };
        return reply.code(202).send(await groups.signal(request.params.id, kind, asked));
      },
    );
  }
}
