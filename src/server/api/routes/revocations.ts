/** Authority that was taken back, and is given again: roles, services, peers, storage endpoints, degraded permissions. */
import { z } from "zod";
import { NodeId } from "../../../core/ids.ts";
import { RevocationRequest } from "../../../core/model/revocation.ts";
import { RevocationList, RevocationView } from "../../../core/protocol/model-api.ts";
import { RevocationKind } from "../../../core/snapshot/revocation.ts";
import { addRevocation, liftRevocation, listRevocations } from "../../model/revocations.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Revocations"];

export function registerRevocationRoutes(app: ZodApp, { db }: OperatorsDeps): void {
  app.post(
    "/revocations",
    {
      schema: {
        tags,
        summary: "Take authority back, from one node or from all",
        body: RevocationRequest,
        response: { 200: RevocationView, 201: RevocationView },
      },
    },
    async (request, reply) => {
      const { revocation, created } = await addRevocation(db, request.body, principalOf(request).user);
      return reply.code(created ? 201 : 200).send(revocation);
    },
  );

  app.get(
    "/revocations",
    {
      schema: {
        tags,
        summary: "What was taken back, newest first; keys and node identities among it",
        querystring: z.strictObject({
          kind: RevocationKind.exactOptional(),
          node_id: NodeId.exactOptional(),
          ...pageQuery,
        }),
        response: { 200: RevocationList },
      },
    },
    async (request) => listRevocations(db, request.query),
  );

  app.delete(
    "/revocations/:seq",
    {
      schema: {
        tags,
        summary: "Lift a revocation",
        params: z.strictObject({ seq: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) }),
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      await liftRevocation(db, request.params.seq, principalOf(request).user);
      return reply.code(204).send();
    },
  );
}
