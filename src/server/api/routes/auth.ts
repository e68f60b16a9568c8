/** Signing in: an API key for a token, a link for a browser's session. */
import { z } from "zod";
import { FairleadError } from "../../../core/errors.ts";
import { LIMITS } from "../../../core/limits.ts";
import {
  SessionRequest,
  SignInLinkResponse,
  TokenRequest,
  TokenResponse,
  WhoAmI,
} from "../../../core/protocol/operator-api.ts";
import { findApiKey } from "../../auth/api-keys.ts";
import { createTokenEvents } from "../../auth/sign-in-events.ts";
import { checkOrigin } from "../../auth/origin.ts";
import type { SignInGuard } from "../../auth/sign-in-guard.ts";
import { closeSession, createSignInCode, openSession, SESSION_COOKIE } from "../../auth/sessions.ts";
import { principalOf, type OwnOrigin } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { intentsRequired } from "../trust-view.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Sign-in"];

export function registerAuthRoutes(
  app: ZodApp,
  deps: OperatorsDeps,
  ownOrigin: OwnOrigin,
  guard: SignInGuard,
): void {
  const { db } = deps;

  const noteToken = createTokenEvents(db, deps.clock);

  async function holderOf(apiKey: string): Promise<{ readonly id: string; readonly user: string }> {
    const holder = await findApiKey(db, apiKey);
    if (holder === null) throw new FairleadError("UNAUTHENTICATED", "the API key is unknown or revoked");
    return holder;
  }

  app.post(
    "/auth/token",
    {
      config: { access: "public" },
      schema: {
        tags,
        summary: "Exchange an API key for a token",
        body: TokenRequest,
        response: { 200: TokenResponse },
      },
    },
    async (request) => {
      const { id, user } = await guard.attempt(request.ip, async () => holderOf(request.body.api_key));
      const { token, expiresAt } = await deps.tokens.issue(id);
      await noteToken(user, request.ip);
      return { token, expires_at: expiresAt.toISOString() };
    },
  );

  app.post(
    "/auth/sign-in-link",
    {
      schema: {
        tags,
        summary: "Make a link that signs a browser in, once",
        response: { 200: SignInLinkResponse },
      },
    },
    async (request) => {
      const { code, expiresAt } = await createSignInCode(db, principalOf(request));
      return { url: `${ownOrigin(request)}/#code=${code}`, expires_at: expiresAt.toISOString() };
    },
  );

  app.post(
    "/auth/session",
    {
      config: { access: "public" },
      schema: {
        tags,
        summary: "Open a browser session with a link's code",
        body: SessionRequest,
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      // Another page must not sign a browser in as somebody else.
      if (request.headers.origin !== undefined)
        checkOrigin("POST", request.headers.origin, ownOrigin(request));
      const token = await guard.attempt(request.ip, async () =>
        openSession(db, request.body.code, request.ip),
      );
      void reply.setCookie(SESSION_COOKIE, token, {
        ...cookieScope(ownOrigin(request)),
        maxAge: LIMITS.consoleSessionLifetimeMs / 1000,
      });
      return reply.code(204).send();
    },
  );

  app.delete(
    "/auth/session",
    {
      config: { access: "public" },
      schema: { tags, summary: "End the browser session", response: { 204: z.undefined() } },
    },
    async (request, reply) => {
      const token = request.cookies[SESSION_COOKIE];
      if (token !== undefined) {
        checkOrigin("DELETE", request.headers.origin, ownOrigin(request));
        await closeSession(db, token);
      }
      void reply.clearCookie(SESSION_COOKIE, cookieScope(ownOrigin(request)));
      return reply.code(204).send();
    },
  );

  app.get(
    "/whoami",
    {
      config: { access: "authenticated" },
      schema: { tags, summary: "Who am I, and what may I do", response: { 200: WhoAmI } },
    },
    async (request) => {
      const { user, scopes } = principalOf(request);
      const intents_required = await intentsRequired(db);
      return { user, scopes: [...scopes], cluster_id: deps.clusterId, intents_required };
    },
  );
}

const cookieScope = (origin: string) =>
  ({ path: "/", httpOnly: true, sameSite: "strict", secure: origin.startsWith("https:") }) as const;
