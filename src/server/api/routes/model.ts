/** The model that snapshots are compiled from: the same four routes for every resource, and what a node is. */
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { FairleadError } from "../../../core/errors.ts";
import { Name, NodeId } from "../../../core/ids.ts";
import type { Json } from "../../../core/json.ts";
import { MODEL_KINDS, Membership, RESOURCES, type ModelKind } from "../../../core/model/resources.ts";
import { MembershipView, RESOURCE_VIEWS, resourceList } from "../../../core/protocol/model-api.ts";
import { canonicalJson } from "../../../trust/canonical-json.ts";
import { findSecret } from "../../../trust/find-secret.ts";
import { getMembership, putMembership } from "../../model/membership.ts";
import { getResource, listResources } from "../../model/read.ts";
import { deleteResource, putResource } from "../../model/write.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Model"];
const named = z.strictObject({ name: Name });
const querystring = z.strictObject(pageQuery);

export function registerModelRoutes(app: ZodApp, deps: OperatorsDeps): void {
  for (const kind of MODEL_KINDS) registerResource(app, deps, kind);
  registerMembership(app, deps);
}

function registerResource(app: ZodApp, { db }: OperatorsDeps, kind: ModelKind): void {
  const { plural, spec } = RESOURCES[kind];
  const view = RESOURCE_VIEWS[kind];
  const [all, one] = [`/model/${plural}`, `/model/${plural}/:name`];

  app.get(
    all,
    {
      schema: {
        tags,
        summary: `List the site's ${plural} by name`,
        querystring,
        response: { 200: resourceList(kind) },
      },
    },
    async (request) => listResources(db, kind, request.query) as never,
  );

  app.get(
    one,
    { schema: { tags, summary: `One of the ${plural}`, params: named, response: { 200: view } } },
    async (request) => getResource(db, kind, request.params.name) as never,
  );

  app.put(
    one,
    {
      preValidation: refuseSecrets,
      schema: {
        tags,
        summary: `Make or replace one of the ${plural}, whole`,
        params: named,
        body: spec,
        response: { 200: view, 201: view },
      },
    },
    async (request, reply) => {
      const { user } = principalOf(request);
      const { resource, created } = await putResource(db, kind, request.params.name, request.body, user);
      return reply.code(created ? 201 : 200).send(resource);
    },
  );

  app.delete(
    one,
    {
      schema: {
        tags,
        summary: `Delete one of the ${plural} that nothing refers to`,
        params: named,
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      await deleteResource(db, kind, request.params.name, principalOf(request).user);
      return reply.code(204).send();
    },
  );
}

function registerMembership(app: ZodApp, { db }: OperatorsDeps): void {
  const params = z.strictObject({ id: NodeId });
  const path = "/nodes/:id/membership";
  app.get(
    path,
    {
      schema: {
        tags: ["Nodes"],
        summary: "A node's roles, organizations and peer address",
        params,
        response: { 200: MembershipView },
      },
    },
    async (request) => getMembership(db, request.params.id),
  );
  app.put(
    path,
    {
      preValidation: refuseSecrets,
      schema: {
        tags: ["Nodes"],
        summary: "Set a node's roles, organizations and peer address, whole",
        params,
        body: Membership,
        response: { 200: MembershipView },
      },
    },
    async (request) => putMembership(db, request.params.id, request.body, principalOf(request).user),
  );
}

/** Before the schema speaks: whoever sends a secret learns that it is one, and it is stored nowhere (SNAP-5). */
async function refuseSecrets({ body }: FastifyRequest): Promise<void> {
  canonicalJson((body ?? null) as Json); // refuses what is nested too deeply to be searched
  const found = findSecret((body ?? null) as Json);
  if (found === null) return;
  const field = found.path.replace(/^content/, "body");
  throw new FairleadError("SNAPSHOT_SECRET_FOUND", `${field}: looks like ${found.looksLike}`, { field });
}
