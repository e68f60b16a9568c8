import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { registryAuth } from "../../../src/agent/upgrade/adapters/docker/registry-auth.ts";
import { nodeFileSystem } from "../../../src/host/file-system-port.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "fairlead-auth-"))));
afterEach(async () => rm(folder, { recursive: true, force: true }));

async function headersFor(repository: string, auth: object): Promise<Record<string, string>> {
  const path = join(folder, "auth.json");
  await writeFile(path, JSON.stringify(auth), { mode: 0o600 });
  return registryAuth(path, repository, nodeFileSystem);
}
const told = (headers: Record<string, string>): unknown =>
  JSON.parse(Buffer.from(headers["x-registry-auth"]!, "base64url").toString("utf8"));

const WHO = { username: "node", password: "correct horse" };

describe("the password for a registry", () => {
  it.each([
    ["registry.test:5000", "registry.test:5000/team/app"],
    ["registry.test:5000/team", "registry.test:5000/team/app"],
    ["registry.test:5000/team/app", "registry.test:5000/team/app"],
  ])("ROLL-8: of %s is shown for %s", async (registry, repository) => {
    expect(told(await headersFor(repository, { registry, ...WHO }))).toEqual(WHO);
  });

  it.each([
    ["registry.test", "elsewhere.test/team/app"],
    ["registry.test", "registry.test:5000/team/app"],
    ["registry.test", "registry.test.evil.test/team/app"],
    ["registry.test/team", "registry.test/team2/app"],
  ])("ROLL-8: of %s is not shown for %s", async (registry, repository) => {
    expect(await headersFor(repository, { registry, ...WHO })).toEqual({});
  });

  it.each([
    ["no registry", WHO],
    ["an address", { registry: "https://registry.test", ...WHO }],
    ["an empty one", { registry: "", ...WHO }],
  ])("ROLL-8: is refused with %s in its file", async (_, auth) => {
    await expect(headersFor("registry.test/app", auth)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});
