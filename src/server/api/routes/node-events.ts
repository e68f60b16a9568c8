/** A node's own events: what its upgrades did, and what it refused. */
import { z } from "zod";
import { NodeId, RolloutId } from "../../../core/ids.ts";
import { EventList } from "../../../core/protocol/operator-api.ts";
import { eventsOfNode } from "../../events/of-node.ts";
import type { OperatorsDeps } from "../deps.ts";
import { getNode } from "../node-views.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const params = z.strictObject({ id: NodeId });
const querystring = z.strictObject({ rollout_id: RolloutId.exactOptional(), ...pageQuery });

export function registerNodeEventRoutes(app: ZodApp, { db }: OperatorsDeps): void {
  app.get(
    "/nodes/:id/events",
    {
      schema: {
        tags: ["Events"],
        summary: "What happened to a node, newest first",
        params,
        querystring,
        response: { 200: EventList },
      },
    },
    async (request) => {
      await getNode(db, request.params.id);
      return eventsOfNode(db, request.params.id, request.query);
    },
  );
}
