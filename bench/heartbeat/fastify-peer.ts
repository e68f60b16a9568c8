/** The peer: Fastify answering 204 to the same body, behind the same mutual TLS, in a process of its own. */
import { constants } from "node:crypto";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { systemClock } from "../../src/host/clock.ts";
import { silentLogger } from "../../src/host/log.ts";
import { createServerCertificate } from "../../src/server/identity/server-certificate.ts";
import { loadOrCreateSiteCa } from "../../src/server/identity/site-ca.ts";
import { serveJobs } from "../support/worker.ts";

export const jobs = {
  async listen({ keysDir }: { keysDir: string }): Promise<{ url: string }> {
    const ca = await loadOrCreateSiteCa(keysDir, systemClock);
    const certificate = await createServerCertificate({
      ca,
      names: [],
      clock: systemClock,
      log: silentLogger,
    });
    const app = Fastify({
      https: {
        ...certificate.current(),
        ca: ca.agentAnchorPem,
        minVersion: "TLSv1.3",
        secureOptions: constants.SSL_OP_NO_TICKET,
        requestCert: true,
        rejectUnauthorized: true,
      },
      keepAliveTimeout: 90_000,
      logger: false,
    });
    app.post("/agent/v1/heartbeat", async (_request, reply) => reply.code(204).send());
    await app.listen({ host: "127.0.0.1", port: 0 });
    return { url: `https://127.0.0.1:${(app.server.address() as AddressInfo).port}` };
  },
};

serveJobs(jobs);
