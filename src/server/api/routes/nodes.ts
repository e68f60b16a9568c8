/** Nodes: who is there, who may join, who must leave. */
import { z } from "zod";
import { NodeId, ProfileId } from "../../../core/ids.ts";
import {
  EnrollmentTokenRequest,
  EnrollmentTokenResponse,
  NodeAdopt,
  NodeAdopted,
  NodeList,
  NodeView,
  ProfileAddRequest,
  ProfileRemoveRequest,
  SignalRequest,
} from "../../../core/protocol/operator-api.ts";
import { createEnrollmentToken } from "../../identity/enrollment-tokens.ts";
import { addProfile, removeProfile } from "../../identity/node-profiles.ts";
import { adoptNode } from "../../rollout/adopt.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { getNode, listNodes } from "../node-views.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Nodes"];
const params = z.strictObject({ id: NodeId });
const querystring = z.strictObject({
  chain_profile_id: ProfileId.exactOptional(),
  node_type: z.string().max(100).exactOptional(),
  binary_version: z.string().max(50).exactOptional(),
  ...pageQuery,
});

export function registerNodeRoutes(app: ZodApp, deps: OperatorsDeps): void {
  const { db } = deps;

  app.post(
    "/enrollment-tokens",
    {
      schema: {
        tags,
        summary: "Allow one new node to enroll",
        body: EnrollmentTokenRequest,
        response: { 201: EnrollmentTokenResponse },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createEnrollmentToken(db, request.body, principalOf(request).user)),
  );

  app.get(
    "/nodes",
    { schema: { tags, summary: "List nodes by name", querystring, response: { 200: NodeList } } },
    async (request) => listNodes(db, request.query),
  );

  app.get(
    "/nodes/:id",
    { schema: { tags, summary: "One node", params, response: { 200: NodeView } } },
    async (request) => getNode(db, request.params.id),
  );

  app.post(
    "/nodes/:id/adopt",
    {
      schema: {
        tags,
        summary: "Record what a node runs after a person mended it by hand",
        params,
        body: NodeAdopt,
        response: { 200: NodeAdopted },
      },
    },
    async (request) => adoptNode(db, request.params.id, request.body, principalOf(request).user),
  );

  app.post(
    "/nodes/:id/revoke",
    {
      schema: {
        tags,
        summary: "Take a node out; returns when every live replica refuses it",
        params,
        body: SignalRequest.nullish(),
        response: { 200: NodeView },
      },
    },
    async (request) => {
      const { id } = request.params;
      await deps.revokeNode(id, principalOf(request).user, request.body?.reason ?? null);
      return getNode(db, id);
    },
  );

  app.post(
    "/nodes/:id/profiles",
    {
      schema: {
        tags,
        summary: "Give a node one more program",
        params,
        body: ProfileAddRequest,
        response: { 200: NodeView },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { chain_profile_id: profile, reason = null } = request.body;
      await addProfile(db, { id, profile, actor: principalOf(request).user, reason });
      return getNode(db, id);
    },
  );

  app.post(
    "/nodes/:id/profiles/:profile/remove",
    {
      schema: {
        tags,
        summary: "Take a program out of control; the machine keeps it as it is",
        params: z.strictObject({ id: NodeId, profile: ProfileId }),
        body: ProfileRemoveRequest.nullish(),
        response: { 200: NodeView },
      },
    },
    async (request) => {
      const { id, profile } = request.params;
      const reason = request.body?.reason ?? null;
      await removeProfile(db, { id, profile, actor: principalOf(request).user, reason });
      return getNode(db, id);
    },
  );
}
