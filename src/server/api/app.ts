/** The operators' listener: API, documents, metrics and console on one address. */
import { randomUUID } from "node:crypto";
import cookie from "@fastify/cookie";
import { fastifySSE } from "@fastify/sse";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import { LIMITS } from "../../core/limits.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import { createSignInGuard } from "../auth/sign-in-guard.ts";
import { measureRequests } from "../metrics/http-metrics.ts";
import { controlAccess } from "./access.ts";
import { serveConsole } from "./console.ts";
import type { OperatorsDeps } from "./deps.ts";
import { handleErrors } from "./errors.ts";
import { listenerTls } from "./listen.ts";
import { describeApi } from "./openapi.ts";
import { registerApiKeyRoutes } from "./routes/api-keys.ts";
import { registerAuthRoutes } from "./routes/auth.ts";
import { registerClockRoutes } from "./routes/clock.ts";
import { registerEventRoutes } from "./routes/events.ts";
import { registerGrantRoutes } from "./routes/grants.ts";
import { registerGroupRoutes } from "./routes/groups.ts";
import { registerIncidentRoutes } from "./routes/incidents.ts";
import { registerModelRoutes } from "./routes/model.ts";
import { registerKeyRoutes } from "./routes/keys.ts";
import { registerManifestRoutes } from "./routes/manifests.ts";
import { registerNodeEventRoutes } from "./routes/node-events.ts";
import { registerEnrollmentKeyRoutes } from "./routes/enrollment-keys.ts";
import { registerNodeRoutes } from "./routes/nodes.ts";
import { registerRevocationRoutes } from "./routes/revocations.ts";
import { registerRolloutRoutes } from "./routes/rollouts.ts";
import { registerSnapshotRoutes } from "./routes/snapshots.ts";
import { registerTrustRoutes } from "./routes/trust.ts";
import { registerWebhookRoutes } from "./routes/webhooks.ts";
import { setSecurityHeaders } from "./security-headers.ts";
import { registerServiceRoutes } from "./service-routes.ts";
import { refuseUnstorableInput } from "./storable-input.ts";
import type { ZodApp } from "./zod-app.ts";

const requestTimeoutMs = 30_000;
const pingIntervalMs = 15_000;

export async function createOperatorsApp(deps: OperatorsDeps): Promise<FastifyInstance> {
  const app = await newApp(deps);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  handleErrors(app, deps.log);
  setSecurityHeaders(app);
  measureRequests(app, "operators", deps.metrics);
  await app.register(cookie);
  await app.register(fastifySSE, { heartbeatInterval: pingIntervalMs });

  const typed: ZodApp = app.withTypeProvider<ZodTypeProvider>();
  await describeApi(typed, deps.version);
  await typed.register(async (api) => registerApi(api.withTypeProvider<ZodTypeProvider>(), deps), {
    prefix: "/api/v1",
  });
  registerServiceRoutes(typed, deps);
  await serveConsole(app, deps.consoleDir);
  return app;
}

async function newApp({ listenHost, tls }: OperatorsDeps): Promise<FastifyInstance> {
  const options = {
    bodyLimit: LIMITS.requestBytesMax,
    requestTimeout: requestTimeoutMs,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: false,
    forceCloseConnections: true,
    logger: false,
  } as const;
  const secure = await listenerTls(listenHost, tls);
  if (secure === undefined) return Fastify(options);
  // Routes are the same over TLS; only the type of the raw server differs.
  return Fastify({ ...options, https: { ...secure, minVersion: "TLSv1.2" } });
}

function registerApi(api: ZodApp, deps: OperatorsDeps): void {
  const ownOrigin = (request: FastifyRequest): string =>
    deps.publicUrl === undefined ? `${request.protocol}://${request.host}` : new URL(deps.publicUrl).origin;
  controlAccess(api, createAuthenticator(deps.db, deps.tokens, deps.oidc), ownOrigin);
  refuseUnstorableInput(api);
  const guard = createSignInGuard(deps.db, deps.clock, {
    of: "sign_in",
    failuresPerMinuteMax: deps.failedSignInsPerMinuteMax ?? LIMITS.failedSignInsPerMinuteMax,
  });
  registerAuthRoutes(api, deps, ownOrigin, guard);
  registerTrustRoutes(api, deps, guard);
  registerKeyRoutes(api, deps);
  registerClockRoutes(api, deps);
  registerGrantRoutes(api, deps);
  registerApiKeyRoutes(api, deps);
  registerNodeRoutes(api, deps);
  registerEnrollmentKeyRoutes(api, deps);
  registerModelRoutes(api, deps);
  registerRevocationRoutes(api, deps);
  registerSnapshotRoutes(api, deps);
  registerManifestRoutes(api, deps);
  registerRolloutRoutes(api, deps);
  registerGroupRoutes(api, deps);
  registerEventRoutes(api, deps);
  registerIncidentRoutes(api, deps);
  registerWebhookRoutes(api, deps);
  registerNodeEventRoutes(api, deps);
}
