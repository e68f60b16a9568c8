/** Which image runs: the digest that was signed, whatever tags, lists and registries say. */
import { randomUUID } from "node:crypto";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPrograms } from "../../../src/agent/programs/programs.ts";
import { Digest } from "../../../src/core/ids.ts";
import { ProgramReport } from "../../../src/core/protocol/agent-api.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { inspected, listed } from "../../support/docker/containers.ts";
import { type HelloImages, helloImages } from "../../support/docker/hello-images.ts";
import { call, REPOSITORY } from "../../support/docker/images.ts";
import { type DockerLab, dockerLab, REGISTRY } from "../../support/docker/lab.ts";
import { type DockerMachine, dockerMachine } from "../../support/docker/machine.ts";
import { PROFILE } from "../../support/programs/contract-machine.ts";
import { around } from "../../support/programs/failing-adapter.ts";

/** `node` with the password `correct horse`. */
const ONE_READER = "node:$2y$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2\n";

describe("the image of a container", () => {
  let lab: DockerLab;
  let images: HelloImages;
  let m: DockerMachine;
  beforeAll(async () => {
    lab = await dockerLab();
    images = await helloImages(lab);
  });
  afterAll(async () => lab.close());
  beforeEach(async () => {
    m = await dockerMachine(lab, images);
    await m.provision("1.0.0");
  });
  afterEach(async () => m.close());

  const withArtifact = (job: UpgradeJob, change: Partial<UpgradeJob["artifact"]>): UpgradeJob => ({
    ...job,
    artifact: { ...job.artifact, ...change },
  });

  async function expectRefused(job: UpgradeJob, code: string): Promise<void> {
    expect(await m.upgrade(job)).toMatchObject({
      verdict: "FAILED",
      error: { code, action: "acquire_artifact" },
    });
    expect((await m.version()).version).toBe("1.0.0");
    expect(await m.leftOver()).toEqual([]);
    expect(await m.starts()).toHaveLength(1);
  }

  it("ROLL-8 ROLL-15: is the signed one, although its tag moved between verification and installation", async () => {
    const job = withArtifact(m.job({ version: "2.0.0" }), {
      url: `${REPOSITORY}:2.0.0@${images.digestOf("2.0.0")}`,
    });
    const adapter = around(m.adapter(), "install", async (work) => {
      const other = await images.moveTag("2.0.0", "6.6.6");
      await call(lab.api, "POST", `/images/create?fromImage=${REPOSITORY}&tag=2.0.0`);
      expect(other).not.toBe(job.artifact.fingerprint);
      return work();
    });
    expect(await m.upgrade(job, { adapter })).toMatchObject({ verdict: "COMPLETED" });
    expect((await m.version()).version).toBe("2.0.0");
    expect((await m.adapter().running())?.fingerprint).toBe(job.artifact.fingerprint);
    await call(lab.api, "DELETE", `/images/${REPOSITORY}:2.0.0`);
  });

  it("ROLL-8: may be named by the digest of a list, which is then what runs", async () => {
    const list = await pushList(images.digestOf("2.0.0"));
    const job = withArtifact(m.job({ version: "2.0.0" }), {
      fingerprint: list,
      url: `${REPOSITORY}@${list}`,
    });
    expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED" });
    expect((await m.adapter().running())?.fingerprint).toBe(list);
    expect(await m.installed()).toBe(list);
  });

  it("ROLL-8: is refused by tag alone, even by a tag that leads to the right one", async () => {
    const job = withArtifact(m.job({ version: "2.0.0" }), { url: `${REPOSITORY}:2.0.0` });
    await expectRefused(job, "IMAGE_NOT_PINNED");
  });

  it("ROLL-8: is refused from a repository that the machine's operator did not list", async () => {
    const { fingerprint } = m.job({ version: "2.0.0" }).artifact;
    for (const repository of [
      "127.0.0.1:5000/other",
      "127.0.0.1:5000/hello/deeper",
      "127.0.0.1:5000/hell",
      "docker.io/library/hello",
      "127.0.0.1:5000/hello?x=1",
      "127.0.0.1:5000/../hello",
    ]) {
      const job = withArtifact(m.job({ version: "2.0.0" }), { url: `${repository}@${fingerprint}` });
      await expectRefused(job, "ORIGIN_NOT_ALLOWED");
    }
  });

  it("ROLL-8: is refused when its address names another digest than the signed one", async () => {
    const job = withArtifact(m.job({ version: "2.0.0" }), { fingerprint: images.digestOf("3.0.0") });
    await expectRefused(job, "ARTIFACT_DIGEST_MISMATCH");
  });

  it("ROLL-8: cannot be one that the registry does not have", async () => {
    const unknown = digestOf(randomUUID());
    const job = withArtifact(m.job({ version: "2.0.0" }), {
      fingerprint: unknown,
      url: `${REPOSITORY}@${unknown}`,
    });
    await expectRefused(job, "ARTIFACT_UNREACHABLE");
  });

  it("ROLL-8: comes from a registry that asks who the machine is, and the answer stays between the two", async () => {
    const secret = join(m.root, "registry.json");
    const known = await dockerMachine(lab, images, { local: { registry_auth_file: secret } });
    const auth = async (password: string, mode: number, registry = REGISTRY): Promise<void> => {
      await writeFile(secret, JSON.stringify({ registry, username: "node", password }));
      await chmod(secret, mode);
    };
    const tried = async (code: string): Promise<void> => {
      const outcome = await known.upgrade(known.job({ version: "2.0.0" }));
      expect(outcome).toMatchObject({ verdict: "FAILED", error: { code, action: "acquire_artifact" } });
      expect(JSON.stringify(outcome)).not.toContain("horse");
    };
    await lab.stopRegistry();
    await lab.startRegistry(ONE_READER);
    try {
      await expectRefused(m.job({ version: "2.0.0" }), "ARTIFACT_UNREACHABLE");
      await known.provision("1.0.0");
      await tried("FILE_NOT_FOUND");
      await auth("wrong horse", 0o600);
      await tried("ARTIFACT_UNREACHABLE");
      await auth("correct horse", 0o644);
      await tried("PATH_REFUSED");
      await auth("correct horse", 0o600, "registry.test"); // another's, so it is not shown
      await tried("ARTIFACT_UNREACHABLE");
      await auth("correct horse", 0o600);
      expect(await known.upgrade(known.job({ version: "2.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
      const kept = await readdir(known.stateDir, { recursive: true, withFileTypes: true });
      for (const file of kept.filter((entry) => entry.isFile()))
        expect(await readFile(join(file.parentPath, file.name), "utf8")).not.toContain("horse");
    } finally {
      await lab.stopRegistry();
      await known.close();
    }
  });

  it("ROLL-15: is told by what the container runs, when somebody put another in its place", async () => {
    await m.upgrade(m.job({ version: "2.0.0" }));
    const { container } = m.program;
    await call(lab.api, "DELETE", `/containers/${container}?force=1`);
    const json = { Image: `${REPOSITORY}@${images.digestOf("1.0.0")}`, HostConfig: { NetworkMode: "host" } };
    await call(lab.api, "POST", `/containers/create?name=${container}`, { json });
    await call(lab.api, "POST", `/containers/${container}/start`);
    expect(await m.adapter().measure()).toBe(images.digestOf("1.0.0"));
    expect((await m.adapter().supervision()).running?.fingerprint).not.toBe(images.digestOf("2.0.0"));
  });

  it("ROLL-15: is in the heartbeat, with its instance and start", async () => {
    const outcome = await m.upgrade(m.job({ version: "2.0.0" }));
    const programs = createPrograms({ [PROFILE]: m.program }, m.stateDir, () => m.adapter(), silentLogger);
    await m.version();
    expect((await programs.report()).map((report) => ProgramReport.parse(report))).toMatchObject([
      {
        application_health: "ok",
        running_fingerprint: images.digestOf("2.0.0"),
        installed_fingerprint: images.digestOf("2.0.0"),
        version: "2.0.0",
        instance_id: outcome.instance_id,
        restarts: 0,
      },
    ]);
    expect(await programs.measure(PROFILE)).toBe(images.digestOf("2.0.0"));
  });

  it("ROLL-8: only this program's containers are tidied away, and only what upgrades left", async () => {
    const { container } = m.program;
    const strange = `${container}.bak.kept-by-hand`; // sorts after any id
    const json = { Image: `${REPOSITORY}@${images.digestOf("1.0.0")}` };
    await call(lab.api, "POST", `/containers/create?name=${strange}`, { json });
    for (const version of ["2.0.0", "3.0.0", "0.9.0"]) {
      expect(await m.upgrade(m.job({ version }))).toMatchObject({ verdict: "COMPLETED" });
    }
    const names = (await listed(lab.api)).flatMap(({ Names }) => Names).toSorted();
    expect(names).toEqual([
      `/${container}`,
      expect.stringMatching(/\.bak\.[0-9a-f-]{36}\.forward\.1$/),
      `/${strange}`,
    ]);
    expect((await inspected(lab.api, names[1]!.slice(1))).Config.Image).toBe(
      `${REPOSITORY}@${images.digestOf("3.0.0")}`,
    );
    expect(await images.there()).toEqual(["0.9.0", "1.0.0", "3.0.0"]);
  });

  async function pushList(digest: Digest): Promise<Digest> {
    const registry = await lab.registry();
    try {
      const path = `/v2/hello/manifests`;
      const image = await registry.request(`${path}/${digest}`, {
        headers: { accept: "application/vnd.docker.distribution.manifest.v2+json" },
      });
      const mediaType = "application/vnd.docker.distribution.manifest.list.v2+json";
      const bytes = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType,
          manifests: [
            {
              mediaType: image.headers["content-type"],
              digest,
              size: image.body.length,
              platform: { architecture: "amd64", os: "linux" },
            },
          ],
        }),
      );
      const put = await registry.request(`${path}/list`, {
        method: "PUT",
        bytes,
        headers: { "content-type": mediaType },
      });
      expect(put.status).toBe(201);
      return Digest.parse(digestOf(bytes));
    } finally {
      await registry.end();
    }
  }
});
