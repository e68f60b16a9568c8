// Manifests over the API: what lies in the config folder at the moment of the call.

import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { ManifestList, ManifestView } from "../../../src/core/protocol/manifest-api.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { manifestYaml, startCreationSite, type CreationSite } from "../../support/server/creation-site.ts";

let site: CreationSite;
beforeAll(async () => {
  site = await startCreationSite();
});
afterAll(() => site.stop());

const list = async (query = "") =>
  ManifestList.parse((await site.ask("GET", `/manifests${query}`)).body).manifests;
const named = async (query = "") =>
  (await list(query)).map(({ chain_profile_id, upgrade_id }) => `${chain_profile_id}/${upgrade_id}`);

test("ROLL-1: without a config folder there are no manifests, and none is found", async () => {
  expect(await list()).toEqual([]);
  expect(await site.ask("GET", "/manifests/web/v2")).toMatchObject({
    status: 404,
    code: "MANIFEST_NOT_FOUND",
  });
});

test("ROLL-1: manifests are listed by profile and name, read at the moment of the call, page by page", async () => {
  await site.write("upgrades/web/v2.yaml", manifestYaml());
  await site.write("upgrades/web/v10.yaml", manifestYaml({ upgrade_id: "v10" }));
  await site.write("upgrades/api/v2.yaml", manifestYaml({ chain_profile_id: "api" }));
  await site.write("upgrades/web/.hidden.yaml", "x");
  await site.write("upgrades/web/notes.txt", "x");
  expect(await named()).toEqual(["api/v2", "web/v10", "web/v2"]);
  expect(await named("?chain_profile_id=web")).toEqual(["web/v10", "web/v2"]);
  const first = ManifestList.parse((await site.ask("GET", "/manifests?limit=2")).body);
  expect(await named(`?cursor=${first.next_cursor}`)).toEqual(["web/v2"]);
});

test("ROLL-1: one manifest is shown as it lies there, with the hash of its raw bytes", async () => {
  const text = `# a remark\n${manifestYaml()}\n`;
  await site.write("upgrades/web/v2.yaml", text);
  const view = ManifestView.parse((await site.ask("GET", "/manifests/web/v2")).body);
  expect(view).toMatchObject({ text, content_hash: digestOf(text), target_version: "2.0.0", problem: null });
  await site.write("upgrades/web/v2.yaml", manifestYaml({ target_version: "2.0.1" }));
  expect((await site.ask("GET", "/manifests/web/v2")).body).toMatchObject({ target_version: "2.0.1" });
});

test.each([
  [
    "a field too many",
    "v3",
    manifestYaml({ upgrade_id: "v3", bogus: 1 }),
    /upgrades\/web\/v3\.yaml:1:\d+: bogus: unknown key/,
  ],
  ["another name than its file's", "v4", manifestYaml(), /v4\.yaml names itself web\/v2/],
  ["an alias", "v5", "a: &a 1\nb: *a\n", /v5\.yaml:2:4: aliases are refused/],
  [
    "a template that is missing",
    "v6",
    manifestYaml({ upgrade_id: "v6", config_changes: [{ path: "a", template: "x.liquid" }] }),
    /no template x\.liquid/,
  ],
])("a manifest with %s is listed with its problem", async (_what, id, text, problem) => {
  await site.write(`upgrades/web/${id}.yaml`, text);
  const found = (await list("?chain_profile_id=web")).find(({ upgrade_id }) => upgrade_id === id)!;
  expect(found).toMatchObject({ target_version: null, problem: expect.stringMatching(problem) as string });
});

test.each([
  "/manifests/..%2F..%2Fetc/passwd",
  "/manifests/web/..%2F..%2Fetc",
  "/manifests/web/%00",
  "/manifests/.hidden/v2",
])("%s is refused as a name", async (path) => {
  expect(await site.ask("GET", path)).toMatchObject({ status: 400, code: "INVALID_INPUT" });
});

test("a manifest that is a link is not followed", async () => {
  await site.write("elsewhere.yaml", manifestYaml({ upgrade_id: "v7" }));
  await symlink(join(site.config, "elsewhere.yaml"), join(site.config, "upgrades/web/v7.yaml"));
  expect(await site.ask("GET", "/manifests/web/v7")).toMatchObject({ status: 422, code: "PATH_REFUSED" });
});

test("ROLL-1: a manifest that cannot be read is listed with its problem, and hides no other", async () => {
  await site.write("upgrades/unread/v1.yaml", manifestYaml({ chain_profile_id: "unread", upgrade_id: "v1" }));
  await site.write("upgrades/unread/v2.yaml", "#".repeat(LIMITS.manifestBytesMax + 1));
  await symlink("v1.yaml", join(site.config, "upgrades/unread/v3.yaml"));
  expect(await list("?chain_profile_id=unread")).toMatchObject([
    { upgrade_id: "v1", target_version: "2.0.0", problem: null },
    { upgrade_id: "v2", content_hash: null, problem: expect.stringContaining("v2.yaml") as string },
    { upgrade_id: "v3", content_hash: null, problem: expect.stringContaining("v3.yaml") as string },
  ]);
});

test("ROLL-1: the schema for editors needs no token and describes every field", async () => {
  const answer = await site.app.inject({ method: "GET", url: "/api/v1/schemas/upgrade-manifest.json" });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({
    title: "Fairlead upgrade manifest",
    additionalProperties: false,
    properties: { config_changes: { type: "array" }, variable_overrides: { type: "object" } },
  });
});
