/** The console's files. An address that only the console's router knows answers with its page. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { notFound, sendError } from "./errors.ts";

/** Built files under assets/ carry their hash in their name. */
const HASHED = /[/\\]assets[/\\]/;
/** Not pages: an unknown address below these is an error, also for a browser. */
const NO_PAGES = /^\/(api|openapi\.json|metrics|healthz|readyz|assets)(\/|$|\?)/;

export async function serveConsole(app: FastifyInstance, folder: string | undefined): Promise<void> {
  const built = folder !== undefined && existsSync(join(folder, "index.html"));
  if (built) {
    await app.register(fastifyStatic, {
      root: folder,
      cacheControl: false,
      setHeaders: (reply, path) => {
        void reply.header(
          "cache-control",
          HASHED.test(path) ? "public, max-age=31536000, immutable" : "no-cache",
        );
      },
    });
  }
  app.setNotFoundHandler((request, reply) => {
    const asksForPage = request.method === "GET" || request.method === "HEAD";
    if (built && asksForPage && !NO_PAGES.test(request.url)) return reply.sendFile("index.html");
    return sendError(reply, request, notFound());
  });
}
