/** Upgrade manifests as they lie in the server's config folder, and their schema for editors. */
import { z } from "zod";
import { ProfileId, UpgradeId } from "../../../core/ids.ts";
import { manifestJsonSchema } from "../../../core/manifest/json-schema.ts";
import { ManifestList, ManifestView } from "../../../core/protocol/manifest-api.ts";
import { listManifests, viewManifest } from "../../manifests/views.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Manifests"];
const listQuery = z.strictObject({ chain_profile_id: ProfileId.exactOptional(), ...pageQuery });
const params = z.strictObject({ profile: ProfileId, upgradeId: UpgradeId });

export function registerManifestRoutes(app: ZodApp, { manifests }: OperatorsDeps): void {
  app.get(
    "/manifests",
    {
      schema: {
        tags,
        summary: "List upgrade manifests, by profile and name",
        querystring: listQuery,
        response: { 200: ManifestList },
      },
    },
    async (request) => listManifests(manifests, request.query),
  );

  app.get(
    "/manifests/:profile/:upgradeId",
    { schema: { tags, summary: "One manifest, as it lies there", params, response: { 200: ManifestView } } },
    async ({ params: { profile, upgradeId: upgrade } }) => viewManifest(manifests, { profile, upgrade }),
  );

  const schema = manifestJsonSchema();
  app.get(
    "/schemas/upgrade-manifest.json",
    {
      // Editors fetch it without a token, and it says nothing about this site.
      config: { access: "public" },
      schema: {
        tags,
        summary: "The JSON Schema of upgrade manifests, for editors",
        response: { 200: z.record(z.string(), z.unknown()) },
      },
    },
    async () => schema,
  );
}
