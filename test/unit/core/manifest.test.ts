import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { Manifest, MIGRATION_TYPES, ROLLBACK_TIER } from "../../../src/core/manifest/schema.ts";
import { hashedRequest, RolloutCreate, RolloutCreateManual } from "../../../src/core/rollout/create.ts";

const least = {
  upgrade_id: "hello-2",
  chain_profile_id: "hello",
  binary_name: "hello",
  target_version: "2.0.0",
  target_url: "https://artifacts.example/hello-2",
};
const file = (path: string) => ({ path, content: "x" });
const ID = "0b1c2d3e-4f50-4617-8899-aabbccddeeff";
const auto = {
  id: ID,
  chain_profile_id: "hello",
  node_type: "validator",
  source_version: "1.0.0",
  batch_size: 2,
  upgrade_id: "hello-2",
};
const { upgrade_id: _upgrade, ...policy } = auto;
const manual = {
  ...policy,
  binary_name: "hello",
  target_version: "2.0.0",
  target_binary_url: "https://x",
  target_binary_checksum: "",
};

test("a manifest says little and means the rest (ROLL-1)", () => {
  expect(Manifest.parse(least)).toMatchObject({
    runtime: "process",
    target_checksum: "",
    run: { args: [], env: {}, user: null },
    state_compatibility: { migration_type: "none", recovery_plan: null },
    config_changes: [],
    variable_overrides: {},
  });
  expect(Manifest.parse({ ...least, config_changes: [file("a"), file("b/c")] }).config_changes).toEqual([
    file("a"),
    file("b/c"),
  ]);
});

test.each<[string, object]>([
  ["an upgrade id that is a path", { upgrade_id: "../../etc" }],
  ["a profile that is a path", { chain_profile_id: "a/b" }],
  ["a field too many", { target_chekcsum: "sha256:…" }],
  ["an unknown runtime", { runtime: "kubernetes" }],
  ["an unknown migration", { state_compatibility: { migration_type: "maybe" } }],
  ["a config outside its folder", { config_changes: [file("../a")] }],
  ["one config path twice", { config_changes: [file("a"), file("a")] }],
  [
    "more configs than fit",
    { config_changes: Array.from({ length: LIMITS.configFilesMax + 1 }, (_, n) => file(`f${n}`)) },
  ],
  ["a setuid mode", { config_changes: [{ ...file("a"), mode: "4755" }] }],
  ["no target version", { target_version: undefined }],
])("a manifest with %s is refused", (_, changes) => {
  expect(Manifest.safeParse({ ...least, ...changes }).success).toBe(false);
});

test("what a rollback can promise follows from the migration (ROLL-3)", () => {
  expect(MIGRATION_TYPES.map((type) => [type, ROLLBACK_TIER[type]])).toEqual([
    ["none", 1],
    ["compatible", 2],
    ["breaking", 3],
  ]);
});

test("a rollout is asked for by its manifest's name or by every field, never by half of each", () => {
  expect(RolloutCreate.parse(auto)).toMatchObject({
    strategy: "rolling",
    failure_threshold: 0,
    health_wait_seconds: 60,
  });
  expect(RolloutCreate.parse(manual)).toMatchObject({
    runtime: "process",
    migration_type: "none",
    config_files: [],
  });
  expect(RolloutCreate.safeParse({ ...manual, upgrade_id: "hello-2" }).success).toBe(false);
  expect(RolloutCreate.safeParse(policy).success).toBe(false);
});

test.each<[string, object]>([
  ["no nodes named", { node_ids: [] }],
  ["a batch of none", { batch_size: 0 }],
  ["a threshold above 1", { failure_threshold: 1.01 }],
  ["a negative threshold", { failure_threshold: -0.1 }],
  ["a negative wait", { health_wait_seconds: -1 }],
  ["a wait longer than a week", { health_wait_seconds: 7 * 24 * 3600 + 1 }],
  ["an intent that is not base64", { intent: "***" }],
  ["an id that is not one", { id: "rollout-1" }],
  ["a scope it gives itself", { scope: "admin" }],
])("a request with %s is refused", (_, changes) => {
  expect(RolloutCreate.safeParse({ ...auto, ...changes }).success).toBe(false);
});

test("manual mode hashes the request without its own hash and without the intent over it", () => {
  const hash = `sha256:${"a".repeat(64)}`;
  const request = RolloutCreateManual.parse({ ...manual, intent: "AAAA", manifest_content_hash: hash });
  expect(hashedRequest(request)).toEqual(RolloutCreateManual.parse(manual));
});
