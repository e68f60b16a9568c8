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
import type { Caller, Principal } from "../auth/principal.ts";
import { SESSION_COOKIE } from "../auth/sessions.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    access?: "public" | "authenticated" | "admin";
  }
  interface FastifyRequest {
    /** Null on public routes. */
    principal: Caller | null;
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
    const access = accessOf(request);
    if (access === "public") return;
    request.principal = await authenticate(request);
    if (mayCall(request.principal, access)) return;
    throw new FairleadError("FORBIDDEN", `${request.principal.user} does not have the scope ${access}`);
  });

  async function authenticate(request: FastifyRequest): Promise<Caller> {
    const { authorization, origin } = request.headers;
    if (authorization !== undefined) return authenticator.bearer(authorization);
    const session = request.cookies[SESSION_COOKIE];
    if (session === undefined) throw new FairleadError("UNAUTHENTICATED", "this call needs a token");
    checkOrigin(request.method, origin, ownOrigin(request)); // (2)
    return authenticator.session(session);
  }
}

/** Asked again in the middle of a call that lasts: whether its caller would still be let in. */
export async function isStillAllowed(request: FastifyRequest): Promise<boolean> {
  const principal = await principalOf(request).again();
  return principal !== null && mayCall(principal, accessOf(request));
}

const accessOf = ({ routeOptions }: FastifyRequest) => routeOptions.config.access ?? "admin"; // (1)

const mayCall = ({ scopes }: Principal, access: "public" | "authenticated" | "admin"): boolean =>
  access !== "admin" || scopes.includes(access);

export function principalOf(request: FastifyRequest): Caller {
  if (request.principal === null) throw new FairleadError("INTERNAL", "a public route asked for its caller");
  return request.principal;
}
