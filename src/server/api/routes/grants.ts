/** Scopes for people who sign in at the OpenID issuer. Only an administrator gets here, so nobody helps himself. */
import { z } from "zod";
import { GrantList, GrantRequest, GrantView } from "../../../core/protocol/grant-api.ts";
import { grantOidc, listGrants } from "../../auth/grants.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Sign-in"];

export function registerGrantRoutes(app: ZodApp, { db }: OperatorsDeps): void {
  app.get(
    "/grants",
    {
      schema: {
        tags,
        summary: "What OpenID subjects may do, who granted it and when",
        querystring: z.strictObject(pageQuery),
        response: { 200: GrantList },
      },
    },
    async (request) => listGrants(db, request.query),
  );

  app.post(
    "/grants",
    {
      schema: {
        tags,
        summary: "Set an OpenID subject's scopes",
        body: GrantRequest,
        response: { 200: GrantView },
      },
    },
    async (request) => grantOidc(db, request.body, principalOf(request).user),
  );
}
