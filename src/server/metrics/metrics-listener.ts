/**
 * Metrics on an address of their own (ADR 17): whoever may scrape need not reach the operators' API, and the other way
 * round.
 *
 * 1. A scrape asks the database. Scrapes that arrive together share one answer, so that many cost no more than one.
 */
import Fastify, { type FastifyInstance } from "fastify";
import type { Logger } from "../../host/log.ts";
import { answerNotFound, handleErrors } from "../api/errors.ts";
import type { ServerMetrics } from "./server-metrics.ts";

const requestTimeoutMs = 15_000;
const connectionsMax = 64;
const bodyBytesMax = 1024;

type Scrape = Awaited<ReturnType<ServerMetrics["scrape"]>>;

export function createMetricsListener(metrics: Pick<ServerMetrics, "scrape">, log: Logger): FastifyInstance {
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    logger: false,
  });
  app.server.maxConnections = connectionsMax;
  handleErrors(app, log);
  answerNotFound(app);

  let running: Promise<Scrape> | null = null;
  function scrape(): Promise<Scrape> {
    running ??= metrics.scrape().finally(() => (running = null)); // (1)
    return running;
  }

  app.get("/metrics", async (_request, reply) => {
    const { contentType, text } = await scrape();
    return reply.type(contentType).send(text);
  });
  return app;
}
