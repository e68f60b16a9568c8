/** The OpenAPI 3.1 document, made from the schemas that the routes validate with. */
import swagger from "@fastify/swagger";
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from "fastify-type-provider-zod";
import type { OpenAPIV3_1 } from "openapi-types";
import { z } from "zod";
import * as api from "../../core/protocol/operator-api.ts";
import { RevocationView } from "../../core/protocol/model-api.ts";
import { JsonValue, NodeAuthority, NodeSnapshots, SnapshotDetail } from "../../core/protocol/snapshot-api.ts";
import { ApiKeyView } from "../../core/protocol/api-key-api.ts";
import { DeliveryView, IncidentView, WebhookView } from "../../core/protocol/incident-api.ts";
import { GroupView } from "../../core/protocol/group-api.ts";
import { KeyView } from "../../core/protocol/keys-api.ts";
import { RolloutCreate } from "../../core/rollout/create.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { finishDocument, operationIdOf } from "./openapi-finish.ts";
import type { ZodApp } from "./zod-app.ts";

/** Names that generated clients see. What stands here is written once in the document and referred to. */
const NAMED = {
  ApiKeyView,
  DeliveryView,
  ErrorResponse: api.ErrorResponse,
  EventView: api.EventView,
  GroupView,
  IncidentView,
  JsonValue,
  KeyView,
  NodeView: api.NodeView,
  NodeUpgradeView: api.NodeUpgradeView,
  NodeAuthority,
  NodeSnapshots,
  SnapshotDetail,
  RevocationView,
  RolloutView: api.RolloutView,
  RolloutCreate,
  TrustBundle,
  TrustView: api.TrustView,
  WebhookView,
  WhoAmI: api.WhoAmI,
};

const INTRODUCTION = `Call \`POST /api/v1/auth/token\` with an API key and send the answer's token as
\`Authorization: Bearer …\`; tokens of the configured OpenID issuer work as well. All calls need the scope \`admin\`,
which is granted on the server only. A failure answers with \`ErrorResponse\`: a stable code, what happened, what to do.`;

export async function describeApi(app: ZodApp, version: string): Promise<void> {
  const schemaRegistry = z.registry<{ id?: string }>();
  for (const [id, schema] of Object.entries(NAMED)) schemaRegistry.add(schema, { id });
  const named = createJsonSchemaTransformObject({ schemaRegistry });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Fairlead", version, description: INTRODUCTION },
      components: {
        securitySchemes: {
          token: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
          session: { type: "apiKey", in: "cookie", name: "fairlead_session" },
        },
      },
      security: [{ token: [] }, { session: [] }],
    },
    transform: createJsonSchemaTransform({ schemaRegistry }),
    transformObject: (document) => finishDocument(named(document) as Partial<OpenAPIV3_1.Document>) as never,
  });
  app.addHook("onRoute", (route) => {
    if (!route.url.startsWith("/api/") || route.schema === undefined) return;
    const response = route.schema.response as Record<string, unknown> | undefined;
    route.schema = {
      ...route.schema,
      operationId: operationIdOf([route.method].flat().join(), route.url),
      ...(route.config?.access === "public" ? { security: [] } : {}),
      response: { ...response, "4xx": api.ErrorResponse, "5xx": api.ErrorResponse },
    };
  });
}
