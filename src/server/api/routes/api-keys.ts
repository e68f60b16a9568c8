/** API keys: who has one, and their way in and out. */
import { z } from "zod";
import {
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyId,
  ApiKeyList,
  ApiKeyRevoke,
  ApiKeyView,
} from "../../../core/protocol/api-key-api.ts";
import { listApiKeys, makeApiKey, revokeApiKey } from "../../auth/manage-api-keys.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Sign-in"];

export function registerApiKeyRoutes(app: ZodApp, { db }: OperatorsDeps): void {
  app.get(
    "/api-keys",
    {
      schema: {
        tags,
        summary: "API keys by name, revoked ones among them",
        querystring: z.strictObject(pageQuery),
        response: { 200: ApiKeyList },
      },
    },
    async (request) => listApiKeys(db, request.query),
  );

  app.post(
    "/api-keys",
    {
      schema: {
        tags,
        summary: "Make an API key; it is answered once",
        body: ApiKeyCreate,
        response: { 201: ApiKeyCreated },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await makeApiKey(db, request.body, principalOf(request).user)),
  );

  app.post(
    "/api-keys/:id/revoke",
    {
      schema: {
        tags,
        summary: "Revoke an API key; its tokens and sessions are refused at once",
        params: z.strictObject({ id: ApiKeyId }),
        body: ApiKeyRevoke.nullish(),
        response: { 200: ApiKeyView },
      },
    },
    async (request) => {
      const wish = request.body ?? { force: false };
      return revokeApiKey(db, request.params.id, wish, principalOf(request).user);
    },
  );
}
