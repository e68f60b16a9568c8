/**
 * Who may call a route, decided before its body is read.
 *
 * 1. A route needs the scope `admin` unless it says otherwise: forgetting to say so locks out, never lets in.
 * 2. A write with the console's cookie must come from the console's own page.
 */
import "@fastify/cookie";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { FairleadError } from "../../core/errors.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { checkOrigin } from "../auth/origin.ts";
import type { Principal } from "../auth/principal.ts";
import { SESSION_COOKIE } from "../auth/sessions.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    access?: "public" | "authenticated" | "admin";
  }
  interface FastifyRequest {
    /** Null on public routes. */
    principal: Principal | null;
  }
}

/** The origin that this server is reached by: configured, or what the caller typed. */
export type OwnOrigin = (request: FastifyRequest) => string;

export function controlAccess(
  app: FastifyInstance,
  authenticator: Authenticator,
  ownOrigin: OwnOrigin,
): void {
  app.decorateRequest("principal", null);
  app.addHook("onRequest", async (request) => {
    const access = request.routeOptions.config.access ?? "admin"; // (1)
    if (access === "public") return;
    request.principal = await authenticate(request);
    if (access === "authenticated" || request.principal.scopes.includes(access)) return;
    throw new FairleadError("FORBIDDEN", `${request.principal.user} does not have the scope ${access}`);
  });

  async function authenticate(request: FastifyRequest): Promise<Principal> {
    const { authorization, origin } = request.headers;
    if (authorization !== undefined) return authenticator.bearer(authorization);
    const session = request.cookies[SESSION_COOKIE];
    if (session === undefined) throw new FairleadError("UNAUTHENTICATED", "this call needs a token");
    checkOrigin(request.method, origin, ownOrigin(request)); // (2)
    return authenticator.session(session);
  }
}

export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new FairleadError("INTERNAL", "a public route asked for its caller");
  return request.principal;
}
