/** Scopes for people who sign in at the OpenID issuer. Only an administrator gets here, so nobody helps himself. */
import { z } from "zod";
import { Scope } from "../../../core/protocol/api-key-api.ts";
import { grantOidc } from "../../auth/grants.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import type { ZodApp } from "../zod-app.ts";

const Grant = z.strictObject({
  issuer: z.string().min(1).max(500),
  subject: z.string().min(1).max(255),
  /** Empty: takes all of them away. */
  scopes: z.array(Scope).max(10),
});

export function registerGrantRoutes(app: ZodApp, { db }: OperatorsDeps): void {
  app.post(
    "/grants",
    {
      schema: {
        tags: ["Sign-in"],
        summary: "Set an OpenID subject's scopes",
        body: Grant,
        response: { 200: Grant },
      },
    },
    async (request) => {
      const { issuer, subject, scopes } = request.body;
      await grantOidc(db, issuer, subject, scopes, principalOf(request).user);
      return { issuer, subject, scopes };
    },
  );
}
