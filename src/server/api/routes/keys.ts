/** Signing keys: which there are, and their way in and out. Private halves never come this way. */
import { z } from "zod";
import { KeyId } from "../../../core/ids.ts";
import {
  KeyList,
  KeyProposal,
  KeyView,
  PromoteRequest,
  RetireRequest,
} from "../../../core/protocol/keys-api.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Keys"];
const params = z.strictObject({ id: KeyId });

export function registerKeyRoutes(app: ZodApp, { keys }: OperatorsDeps): void {
  app.get(
    "/keys",
    {
      schema: { tags, summary: "Every signing key, its state and what is next", response: { 200: KeyList } },
    },
    async () => keys.list(),
  );

  app.post(
    "/keys",
    {
      schema: {
        tags,
        summary: "Make a new online key; the server keeps its private half",
        body: KeyProposal,
        response: { 201: KeyView },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await keys.propose(request.body.name, principalOf(request).user)),
  );

  app.post(
    "/keys/:id/promote",
    {
      schema: {
        tags,
        summary: "Sign with this online key from now on; the one before signs beside it until it is retired",
        params,
        body: PromoteRequest,
        response: { 200: KeyView },
      },
    },
    async (request) => keys.promote(request.params.id, request.body, principalOf(request).user),
  );

  app.post(
    "/keys/:id/retire",
    {
      schema: {
        tags,
        summary: "Begin to retire a key; a trust bundle without it ends it",
        params,
        body: RetireRequest,
        response: { 200: KeyView },
      },
    },
    async (request) => keys.retire(request.params.id, request.body.deadline_ms, principalOf(request).user),
  );
}
