/** What machines ask: is it alive, is it ready, how much does it do, what can it do. */
import { z } from "zod";
import type { OperatorsDeps } from "./deps.ts";
import { docsPage } from "./docs-page.ts";
import type { ZodApp } from "./zod-app.ts";

const Health = z.strictObject({ status: z.literal("ok") });
const Readiness = z.strictObject({ ready: z.boolean(), reasons: z.array(z.string()) });
const tags = ["Service"];

export function registerServiceRoutes(app: ZodApp, deps: OperatorsDeps): void {
  app.get("/healthz", { schema: { tags, summary: "Alive", response: { 200: Health } } }, async () => ({
    status: "ok" as const,
  }));

  app.get(
    "/readyz",
    { schema: { tags, summary: "Ready for work, or why not", response: { 200: Readiness, 503: Readiness } } },
    async (_request, reply) => {
      const { ready, reasons } = await deps.ready();
      return reply
        .code(ready ? 200 : 503)
        .header("cache-control", "no-store")
        .send({ ready, reasons: [...reasons] });
    },
  );

  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());

  app.get("/docs", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("text/html; charset=utf-8").send(docsPage(app.swagger())),
  );
}
