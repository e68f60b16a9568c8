/** Counts and times requests by route pattern: a label never holds what a caller typed. */
import type { FastifyInstance, RawServerBase } from "fastify";
import type { ServerMetrics } from "./server-metrics.ts";

export function measureRequests<Server extends RawServerBase>(
  app: FastifyInstance<Server>,
  listener: "operators" | "agents" | "enroll",
  metrics: ServerMetrics,
): void {
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "unknown";
    const status = String(reply.statusCode);
    metrics.httpRequests.add({ listener, method: request.method, route, status });
    metrics.httpSeconds.observe({ listener, route }, reply.elapsedTime / 1000);
    done();
  });
}
