/** Where a machine without a certificate asks for one: TLS without client certificates, two routes, small bodies. */
import type * as https from "node:https";
import Fastify, { type FastifyInstance } from "fastify";
import { LIMITS } from "../../core/limits.ts";
import { EnrollRequest, RenewByProofRequest, RenewResponse } from "../../core/protocol/agent-api.ts";
import type { Logger } from "../../host/log.ts";
import { answerNotFound, handleErrors } from "../api/errors.ts";
import { parseBody } from "../api/parse-body.ts";
import { createSignInGuard } from "../auth/sign-in-guard.ts";
import { createEnrollment, type EnrollmentDeps } from "./enrollment.ts";
import { renewByProof } from "./renewal-by-proof.ts";
import type { ServerCertificate } from "./server-certificate.ts";

export interface EnrollListenerDeps extends EnrollmentDeps {
  readonly log: Logger;
  readonly certificate: ServerCertificate;
  /** Per address. */
  readonly failuresPerMinuteMax?: number;
}

const requestTimeoutMs = 15_000;
const handshakeTimeoutMs = 10_000;

export async function createEnrollListener(deps: EnrollListenerDeps): Promise<FastifyInstance<https.Server>> {
  const { log, certificate, failuresPerMinuteMax = LIMITS.failedEnrollmentsPerMinuteMax } = deps;
  const guard = createSignInGuard(deps.db, deps.clock, { of: "enrollment", failuresPerMinuteMax });
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
  const enroll = createEnrollment(deps);
  app.post("/enroll/v1/enroll", async (request, reply) => {
    const body = parseBody(EnrollRequest, request.body);
    const answer = await guard.attempt(request.ip, async () => enroll(body, request.ip));
    return reply.code("pending" in answer ? 202 : 200).send(answer);
  });
  app.post("/enroll/v1/renew", async (request) => {
    const body = parseBody(RenewByProofRequest, request.body);
    const chain = await guard.attempt(request.ip, async () => renewByProof(deps, body));
    return RenewResponse.parse({ certificate_chain: chain });
  });
  return app;
}
