/** What each node may do by its snapshots, how far it is with them, and what it refused (SNAP-13, SNAP-19). */
import { z } from "zod";
import { NodeId } from "../../../core/ids.ts";
import { NodeAuthorityList, NodeSnapshots, SnapshotDetail } from "../../../core/protocol/snapshot-api.ts";
import { ScopeType } from "../../../core/snapshot/scopes.ts";
import { listAuthority } from "../authority-list.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import { snapshotDetail } from "../snapshot-detail.ts";
import { nodeSnapshots } from "../snapshot-views.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Snapshots"];
const counter = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).exactOptional();

export function registerSnapshotRoutes(app: ZodApp, { db, clock }: OperatorsDeps): void {
  app.get(
    "/snapshots",
    {
      schema: {
        tags,
        summary: "How many snapshots of each node are in force, behind, rejected or expiring",
        description:
          "With attention=true only nodes that want a look; a page may then be shorter than its limit.",
        querystring: z.strictObject({ attention: z.enum(["true", "false"]).default("false"), ...pageQuery }),
        response: { 200: NodeAuthorityList },
      },
    },
    async ({ query }) => listAuthority(db, { ...query, attention: query.attention === "true" }, clock.now()),
  );

  app.get(
    "/nodes/:id/snapshots",
    {
      schema: {
        tags,
        summary: "A node's snapshots: published, applied, rejected and why",
        params: z.strictObject({ id: NodeId }),
        response: { 200: NodeSnapshots },
      },
    },
    async (request) => nodeSnapshots(db, request.params.id, clock.now()),
  );

  app.get(
    "/nodes/:id/snapshots/:scope",
    {
      schema: {
        tags,
        summary: "One snapshot: header, content and signed bytes; earlier versions as far as they are kept",
        params: z.strictObject({ id: NodeId, scope: ScopeType }),
        querystring: z.strictObject({ version: counter, epoch: counter }),
        response: { 200: SnapshotDetail },
      },
    },
    async (request) => snapshotDetail(db, request.params.id, request.params.scope, request.query),
  );
}
