/** Enrollment keys, and the machines that wait for an approval. */
import { z } from "zod";
import { NodeId } from "../../../core/ids.ts";
import {
  EnrollmentKeyCreate,
  EnrollmentKeyCreated,
  EnrollmentKeyId,
  EnrollmentKeyList,
  EnrollmentKeyRevoke,
  EnrollmentKeyView,
  NodeApproved,
  NodeApproveRequest,
} from "../../../core/protocol/enrollment-key-api.ts";
import { approveNode } from "../../identity/approval.ts";
import {
  createEnrollmentKey,
  listEnrollmentKeys,
  revokeEnrollmentKey,
} from "../../identity/enrollment-keys.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Nodes"];

export function registerEnrollmentKeyRoutes(app: ZodApp, { db }: OperatorsDeps): void {
  app.get(
    "/enrollment-keys",
    {
      schema: {
        tags,
        summary: "List enrollment keys, newest first",
        querystring: z.strictObject(pageQuery),
        response: { 200: EnrollmentKeyList },
      },
    },
    async (request) => listEnrollmentKeys(db, request.query),
  );

  app.post(
    "/enrollment-keys",
    {
      schema: {
        tags,
        summary: "Allow many new nodes to enroll with one secret, which is answered once",
        body: EnrollmentKeyCreate,
        response: { 201: EnrollmentKeyCreated },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createEnrollmentKey(db, request.body, principalOf(request).user)),
  );

  app.post(
    "/enrollment-keys/:id/revoke",
    {
      schema: {
        tags,
        summary: "Let no more machines enroll with a key; nodes that did stay",
        params: z.strictObject({ id: EnrollmentKeyId }),
        body: EnrollmentKeyRevoke.nullish(),
        response: { 200: EnrollmentKeyView },
      },
    },
    async (request) =>
      revokeEnrollmentKey(db, request.params.id, request.body ?? {}, principalOf(request).user),
  );

  app.post(
    "/nodes/:id/approve",
    {
      schema: {
        tags,
        summary: "Let a machine that waits have its certificate",
        params: z.strictObject({ id: NodeId }),
        body: NodeApproveRequest.nullish(),
        response: { 200: NodeApproved },
      },
    },
    async (request) => approveNode(db, request.params.id, request.body ?? {}, principalOf(request).user),
  );
}
