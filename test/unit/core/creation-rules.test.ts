import { expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import { checkCreationRules, type RolloutProposal } from "../../../src/core/rollout/creation-rules.ts";

const CHECKSUM = `sha256:${"a".repeat(64)}`;
const good: RolloutProposal = {
  runtime: "process",
  sourceVersion: "1.0.0",
  targetVersion: "2.0.0",
  url: "https://artifacts.example/hello",
  checksum: CHECKSUM,
  strategy: "rolling",
  migrationType: "none",
  recoveryPlan: null,
  acknowledgeStateRisk: false,
  configOnly: false,
};
const image = { runtime: "docker", url: `registry.example/hello@${CHECKSUM}` } as const;
const breaking = {
  migrationType: "breaking",
  recoveryPlan: "restore the volume",
  strategy: "canary",
  acknowledgeStateRisk: true,
} as const;

function broken(changes: Partial<RolloutProposal>): [string, unknown] | null {
  try {
    checkCreationRules({ ...good, ...changes });
    return null;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return [error.code, error.detail?.["rule"]];
  }
}

test.each<[string, Partial<RolloutProposal>]>([
  ["a plain binary", {}],
  ["an image by digest", image],
  ["a compatible migration without a canary", { migrationType: "compatible" }],
  ["a breaking migration with all that it needs", breaking],
  ["the same version with changed config files alone", { targetVersion: "1.0.0", configOnly: true }],
])("%s breaks no rule (ROLL-3)", (_, changes) => {
  expect(broken(changes)).toBeNull();
});

test.each<[number, string, string, Partial<RolloutProposal>]>([
  [1, "CHECKSUM_REQUIRED", "an empty checksum", { checksum: "" }],
  [2, "CHECKSUM_NOT_SHA256", "another algorithm", { checksum: `md5:${"a".repeat(32)}` }],
  [2, "CHECKSUM_NOT_SHA256", "a prefix and nothing behind it", { ...image, checksum: "sha256:" }],
  [2, "CHECKSUM_NOT_SHA256", "capitals", { checksum: CHECKSUM.toUpperCase() }],
  [3, "IMAGE_NOT_PINNED", "a tag", { ...image, url: "registry.example/hello:2.0" }],
  [3, "IMAGE_NOT_PINNED", "a digest that is none", { ...image, url: "registry.example/hello@sha256:latest" }],
  [4, "VERSION_UNCHANGED", "the same version", { targetVersion: "1.0.0" }],
  [
    3,
    "IMAGE_NOT_PINNED",
    "another digest than the checksum",
    { ...image, checksum: `sha256:${"b".repeat(64)}` },
  ],
  [3, "IMAGE_NOT_PINNED", "a digest in front of a tag", { ...image, url: `x@${CHECKSUM}:latest` }],
  [7, "BREAKING_UNSAFE", "no recovery plan", { ...breaking, recoveryPlan: null }],
  [7, "BREAKING_UNSAFE", "a recovery plan of spaces", { ...breaking, recoveryPlan: " \n" }],
  [7, "BREAKING_UNSAFE", "no canary", { ...breaking, strategy: "rolling" }],
  [7, "BREAKING_UNSAFE", "no acknowledgement", { ...breaking, acknowledgeStateRisk: false }],
])("rule %i answers %s for %s (ROLL-3)", (rule, code, _, changes) => {
  expect(broken(changes)).toEqual([code, rule]);
});

test("of several broken rules the first is named", () => {
  expect(broken({ checksum: "", targetVersion: "1.0.0" })).toEqual(["CHECKSUM_REQUIRED", 1]);
});
