/** Where a machine without a certificate asks for one: TLS without client certificates, one route, small bodies. */
import type * as https from "node:https";
import rateLimit from "@fastify/rate-limit";
import Fastify, { type FastifyInstance } from "fastify";
import { LIMITS } from "../../core/limits.ts";
import { EnrollRequest } from "../../core/protocol/agent-api.ts";
import type { Logger } from "../../host/log.ts";
import { answerNotFound, handleErrors } from "../api/errors.ts";
import { parseBody } from "../api/parse-body.ts";
import { limitedPerMinute, rateLimitOptions } from "../api/rate-limit.ts";
import { enroll, type EnrollmentDeps } from "./enrollment.ts";
import type { ServerCertificate } from "./server-certificate.ts";

export interface EnrollListenerDeps extends EnrollmentDeps {
  readonly log: Logger;
  readonly certificate: ServerCertificate;
  /** Per address. A secret cannot be guessed; the bound keeps signing cheap for everyone else. */
  readonly requestsPerMinuteMax?: number;
}

const requestsPerMinuteMaxDefault = 1_200;
const requestTimeoutMs = 15_000;
const handshakeTimeoutMs = 10_000;

export async function createEnrollListener(deps: EnrollListenerDeps): Promise<FastifyInstance<https.Server>> {
  const { log, certificate, requestsPerMinuteMax = requestsPerMinuteMaxDefault } = deps;
  const app = Fastify({
    https: { ...certificate.current(), minVersion: "TLSv1.3", handshakeTimeout: handshakeTimeoutMs },
    bodyLimit: LIMITS.agentRequestBytesMax,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    logger: false,
  });
  certificate.onRenewed((identity) => app.server.setSecureContext({ ...identity, minVersion: "TLSv1.3" }));
  handleErrors(app, log);
  answerNotFound(app);
  await app.register(rateLimit, rateLimitOptions);
  app.post("/enroll/v1/enroll", limitedPerMinute(requestsPerMinuteMax), async (request) =>
    enroll(deps, parseBody(EnrollRequest, request.body)),
  );
  return app;
}
