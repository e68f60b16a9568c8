/** Who is told of rollouts and incidents, and the log of it (ROLL-19). */
import { z } from "zod";
import {
  DeliveryId,
  DeliveryList,
  DeliveryView,
  WebhookCreate,
  WebhookCreated,
  WebhookId,
  WebhookList,
  WebhookView,
} from "../../../core/protocol/incident-api.ts";
import { listDeliveries, redeliver, sendTest } from "../../notify/deliveries.ts";
import {
  createWebhook,
  listWebhooks,
  readWebhook,
  removeWebhook,
  switchWebhook,
} from "../../notify/webhooks.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Webhooks"];
const params = z.strictObject({ id: WebhookId });
/** Nothing is said with these. */
const body = z.strictObject({}).nullish();

export function registerWebhookRoutes(app: ZodApp, deps: OperatorsDeps): void {
  const { db } = deps;
  app.get(
    "/webhooks",
    { schema: { tags, summary: "Webhooks by name", response: { 200: WebhookList } } },
    async () => listWebhooks(db),
  );

  app.post(
    "/webhooks",
    {
      schema: {
        tags,
        summary: "Add a webhook; its secret is answered once",
        body: WebhookCreate,
        response: { 201: WebhookCreated },
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .header("cache-control", "no-store")
        .send(await createWebhook(deps.webhooks, request.body, principalOf(request).user)),
  );

  app.get(
    "/webhooks/:id",
    { schema: { tags, summary: "One webhook", params, response: { 200: WebhookView } } },
    async (request) => readWebhook(db, request.params.id),
  );

  app.delete(
    "/webhooks/:id",
    {
      schema: { tags, summary: "Remove a webhook with its log", params, response: { 204: z.undefined() } },
    },
    async (request, reply) => {
      await removeWebhook(db, request.params.id, principalOf(request).user);
      return reply.code(204).send();
    },
  );

  for (const [verb, enabled] of [
    ["enable", true],
    ["disable", false],
  ] as const) {
    app.post(
      `/webhooks/:id/${verb}`,
      {
        schema: {
          tags,
          summary: enabled ? "Tell it again" : "Tell it nothing for now",
          params,
          body,
          response: { 200: WebhookView },
        },
      },
      async (request) => switchWebhook(db, request.params.id, enabled, principalOf(request).user),
    );
  }

  app.post(
    "/webhooks/:id/test",
    {
      schema: { tags, summary: "Send a message of type test", params, body, response: { 202: DeliveryView } },
    },
    async (request, reply) =>
      reply.code(202).send(await sendTest(db, request.params.id, principalOf(request).user)),
  );

  app.get(
    "/webhooks/:id/deliveries",
    {
      schema: {
        tags,
        summary: "What was sent to it, newest first",
        params,
        querystring: z.strictObject(pageQuery),
        response: { 200: DeliveryList },
      },
    },
    async (request) => listDeliveries(db, request.params.id, request.query),
  );

  app.post(
    "/webhooks/:id/deliveries/:deliveryId/redeliver",
    {
      schema: {
        tags,
        summary: "Send it again, under the same webhook-id",
        params: z.strictObject({ id: WebhookId, deliveryId: DeliveryId }),
        body,
        response: { 202: DeliveryView },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await redeliver(db, request.params.id, request.params.deliveryId)),
  );
}
