import { describe, expect, it } from "vitest";
import { ProgramConfig } from "../../../src/agent/programs/config.ts";
import { allowedReference, parseReference } from "../../../src/agent/upgrade/adapters/docker/reference.ts";
import { ArtifactRef } from "../../../src/core/upgrade/job.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const artifact = (url: string, fingerprint = DIGEST): ArtifactRef =>
  ArtifactRef.parse({ name: "hello", version: "1.0.0", url, fingerprint });
const refuse = (url: string, fingerprint?: string) => () =>
  allowedReference(artifact(url, fingerprint), ["registry.test:5000/team/app"]);

describe("the name of an image", () => {
  it.each([
    [`registry.test:5000/team/app@${DIGEST}`],
    [`registry.test:5000/team/app:1.2.3@${DIGEST}`], // the tag says nothing
  ])("ROLL-8: is allowed as %s", (url) => {
    expect(allowedReference(artifact(url), ["registry.test:5000/team/app"])).toEqual({
      repository: "registry.test:5000/team/app",
      digest: DIGEST,
    });
  });

  it.each([
    "registry.test:5000/team/app",
    "registry.test:5000/team/app:latest",
    "registry.test:5000/team/app@sha256:abc",
    `registry.test:5000/team/app@${DIGEST.toUpperCase()}`,
    `registry.test:5000/team/app@${DIGEST}@${DIGEST}`,
    `registry.test:5000/team/app@${DIGEST}\n`,
    `@${DIGEST}`,
    "",
  ])("ROLL-8: is no digest: %j", (url) => {
    expect(refuse(url)).toThrow(expect.objectContaining({ code: "IMAGE_NOT_PINNED" }));
  });

  it.each([
    `registry.test:5000/team/app2@${DIGEST}`,
    `registry.test:5000/team/app/x@${DIGEST}`,
    `registry.test:5000/team@${DIGEST}`,
    `REGISTRY.test:5000/team/app@${DIGEST}`,
    `registry.test:5000//team/app@${DIGEST}`,
    `https://registry.test:5000/team/app@${DIGEST}`,
    `registry.test:5000/team/app%2e@${DIGEST}`,
    `169.254.169.254/team/app@${DIGEST}`,
  ])("ROLL-8: is of a repository that is not listed: %s", (url) => {
    expect(refuse(url)).toThrow(expect.objectContaining({ code: "ORIGIN_NOT_ALLOWED" }));
  });

  it("ROLL-8: must carry the signed fingerprint", () => {
    expect(refuse(`registry.test:5000/team/app@${DIGEST}`, `sha256:${"b".repeat(64)}`)).toThrow(
      expect.objectContaining({ code: "ARTIFACT_DIGEST_MISMATCH" }),
    );
  });

  it("is read in time, however long it is", () => {
    const began = performance.now();
    expect(parseReference(`${"a:".repeat(1_000)}@x`)).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe("a docker program's local config", () => {
  const good = {
    runtime: "docker",
    container: "validator",
    image_repositories: ["ghcr.io/team/validator"],
    data_dir: "/srv/validator",
    config_dir: "/srv/validator/config",
    health: { url: "http://127.0.0.1:26657/health" },
  };

  it("has the engine's usual socket, and no repository unless it is listed", () => {
    const { image_repositories: _, ...without } = good;
    expect(ProgramConfig.parse(without)).toMatchObject({
      engine_socket: "/var/run/docker.sock",
      image_repositories: [],
    });
  });

  it.each([
    ["container", "../validator"],
    ["container", "-rf"],
    ["container", "a/json?x="],
    ["engine_socket", "docker.sock"],
    ["engine_socket", "tcp://10.0.0.1:2375"],
    ["image_repositories", ["validator"]], // the engine would complete it
    ["image_repositories", ["ghcr.io/team/validator:latest"]],
    ["image_repositories", ["https://ghcr.io/team/validator"]],
    ["image_repositories", ["ghcr.io/team/"]],
    ["install_path", "/opt/validator"],
  ])("refuses %s %j", (key, value) => {
    expect(ProgramConfig.safeParse({ ...good, [key]: value }).success).toBe(false);
  });
});
