import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hashedRequest, RolloutCreateManual } from "../../../src/core/rollout/create.ts";
import { digestOf, digestOfJson } from "../../../src/trust/digest.ts";
import { runDigest, verifyIntent } from "../../../src/trust/intent.ts";
import { nodesTree } from "../../../src/trust/merkle.ts";
import {
  BASE,
  bundle,
  CHECKSUM,
  manifestText,
  NODES,
  rsaPem,
  rsaRelease,
  site,
  time,
  typed,
} from "./rollout-site.ts";
import { nodeSample, profileSample, uuid } from "./samples.ts";
import { fairlead, homeFor, PINS, refusal, temporaryFolder } from "./support.ts";

describe("fairlead rollout create (USE-2, ROLL-1)", () => {
  test("from a manifest: sends its name, the hash of its bytes, and an intent for exactly these nodes", async () => {
    const { env, manifest, sent } = await site();
    const more = [
      "--batch-size",
      "2",
      "--threshold",
      "0.1",
      "--health-wait",
      "2s",
      "--window",
      "1h",
      "--max-attempts",
      "2",
    ];
    const ran = await fairlead([...BASE, "--manifest", manifest, ...more], { env });
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("for 3 nodes: node-1, node-2, node-3");
    const request = sent()!;
    expect(request).toMatchObject({
      upgrade_id: "v2",
      chain_profile_id: "demo-http",
      batch_size: 2,
      failure_threshold: 0.1,
      health_wait_seconds: 2,
      node_ids: NODES.map((node) => node.id),
      manifest_content_hash: digestOf(manifestText()),
    });
    const { intent } = verifyIntent(Buffer.from(request.intent!, "base64"), bundle, time);
    const configs = [
      { path: "a.conf", mode: "0600", sha256: digestOf("ay") },
      { path: "z.conf", mode: "0644", sha256: digestOf("zed") },
    ];
    expect(intent).toMatchObject({
      cluster_id: PINS.cluster_id,
      rollout_id: request.id,
      fingerprint: CHECKSUM,
      run_digest: runDigest({ args: ["--port", "1"], env: {}, user: null }),
      nodes_root: nodesTree(NODES.map(({ id }) => ({ node_id: id, configs }))).root,
      max_attempts: 2,
    });
    expect(Date.parse(intent.not_after) - intent.serial).toBe(3_600_000);
  });

  test("SNAP-1: an RSA release key signs as its record in the trust bundle says", async () => {
    const { env, manifest, sent } = await site();
    const key = join(await temporaryFolder(), "hsm.pem");
    await writeFile(key, rsaPem);
    const ran = await fairlead([...BASE, "--manifest", manifest, "--release-key", key], { env });
    expect(ran.code).toBe(0);
    const [release] = bundle.release_keys;
    const believed = { ...bundle, release_keys: [{ ...release!, ...rsaRelease.record }] };
    const { intent } = verifyIntent(Buffer.from(sent()!.intent!, "base64"), believed, time);
    expect(intent.fingerprint).toBe(CHECKSUM);
  });

  test("SNAP-1: an RSA key that the trust bundle does not name signs nothing", async () => {
    const { env, manifest, sent } = await site();
    const key = join(await temporaryFolder(), "stranger.pem");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await writeFile(key, privateKey.export({ type: "pkcs8", format: "pem" }));
    const ran = await fairlead([...BASE, "--manifest", manifest, "--release-key", key], { env });
    expect([ran.code, sent()]).toEqual([3, undefined]);
    expect(ran.err).toContain("nor an RSA key that the trust bundle names");
  });

  test("from typed words: the hash is what the server computes from the request", async () => {
    const { env, sent } = await site();
    const ran = await fairlead([...typed(), "--arg", "--x", "--env", "A=b=c", "--no-rollback", "--json"], {
      env,
    });
    expect(ran).toMatchObject({ code: 0, err: "" });
    const request = RolloutCreateManual.parse(sent());
    expect(request.run).toEqual({ args: ["--x"], env: { A: "b=c" }, user: null });
    expect(request.manifest_content_hash).toBe(digestOfJson(hashedRequest(request)));
    const { intent } = verifyIntent(Buffer.from(request.intent!, "base64"), bundle, time);
    expect(intent).toMatchObject({ run_digest: runDigest(request.run), rollback: "none" });
  });

  test("takes only the named nodes, by name or id, each once", async () => {
    const { env, sent } = await site();
    await fairlead([...typed(), "--node", "node-3", "--node", uuid(3), "--node", "node-1"], { env });
    expect(sent()!.node_ids).toEqual([uuid(3), uuid(1)]);
  });

  test("leaves out nodes that are revoked, down, in maintenance or not enrolled", async () => {
    const nodes = [
      nodeSample(1),
      nodeSample(2, { revoked_at: "2026-01-01T00:00:00.000Z" }),
      nodeSample(3, { state: "down" }),
      nodeSample(4, { state: "maintenance", profiles: [profileSample({ state: "maintenance" })] }),
      nodeSample(5, { enrolled: false }),
      nodeSample(6, { state: "degraded", profiles: [profileSample({ state: "degraded" })] }),
    ];
    const { env, sent } = await site(nodes);
    await fairlead(typed(), { env });
    expect(sent()!.node_ids).toEqual([uuid(1), uuid(6)]);
  });

  test("--start answers with the rollout running and `watch` as the next step, not pending and `start`", async () => {
    const { env } = await site();
    const ran = await fairlead([...typed(), "--start"], { env });
    expect(ran.out).toMatch(/, running\n$/);
    expect(ran.err).toContain("next: fairlead rollout watch 3f2a0000");
    const later = await fairlead(typed(), { env });
    expect(later.out).toMatch(/, pending\n$/);
    expect(later.err).toContain("next: fairlead rollout start 3f2a0000");
  });

  test("ROLL-28: a node in maintenance for another of its programs takes part", async () => {
    const other = (state: string) => profileSample({ chain_profile_id: "other", state });
    const nodes = [
      nodeSample(1, { state: "maintenance", profiles: [profileSample(), other("maintenance")] }),
      nodeSample(2, {
        state: "maintenance",
        profiles: [profileSample({ state: "maintenance" }), other("active")],
      }),
    ];
    const { env, sent } = await site(nodes);
    await fairlead(typed(), { env });
    expect(sent()!.node_ids).toEqual([uuid(1)]);
  });

  test("USE-4: a manifest that is not there is FILE_NOT_FOUND with advice about the path, not about an id", async () => {
    const { env } = await site();
    const ran = await fairlead([...BASE, "--manifest", "/nowhere/v2.yaml"], { env });
    expect(ran.code).toBe(5);
    expect(ran.err).toContain("error FILE_NOT_FOUND: ");
    expect(ran.err).toContain("what to do: Check the path");
  });

  test("--start starts it at once", async () => {
    const { env, asked } = await site();
    const ran = await fairlead([...typed(), "--start", "--reason", "now", "--json"], { env });
    expect(ran.json()).toMatchObject({ status: "running" });
    expect(asked.findLast(({ method }) => method === "POST")!.body).toEqual({ reason: "now" });
  });

  test("without a key nothing is signed, and --no-sign signs nothing with one", async () => {
    const first = await site();
    await fairlead([...typed(), "--no-sign"], { env: first.env });
    expect(first.sent()).not.toHaveProperty("intent");
    const second = await site();
    const env = await homeFor(second.url);
    const ran = await fairlead(typed(), { env });
    expect(ran.out).toContain("unsigned");
    expect(second.sent()).not.toHaveProperty("intent");
  });

  test("a context without pins signs nothing: the cluster's id would be the server's word", async () => {
    const { url, key, sent } = await site();
    const ran = await fairlead([...typed(), "--release-key", key], {
      env: await homeFor(url, { pins: null }),
    });
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("has no pins");
    expect(sent()).toBeUndefined();
  });
});

describe("creation rules in the CLI (ROLL-3, USE-4)", () => {
  const cases = [
    ["rule 1", "CHECKSUM_REQUIRED", 3, (): string[] => typed("")],
    ["rule 2", "CHECKSUM_NOT_SHA256", 3, (): string[] => typed("md5:1")],
    ["rule 4", "VERSION_UNCHANGED", 3, (): string[] => typed(CHECKSUM, "1.0.0")],
  ] as const;

  test.each(cases)(
    "%s broken is %s, before anything is sent, as text and as JSON",
    async (_rule, code, exit, words) => {
      const { env, sent } = await site();
      const text = await fairlead(words(), { env });
      expect(text).toMatchObject({ code: exit, out: "" });
      expect(text.err).toMatch(new RegExp(`^error ${code}: .*\\nwhat to do: Rule \\d: `));
      expect((await fairlead([...words(), "--json"], { env })).json()).toMatchObject({ error: { code } });
      expect(sent()).toBeUndefined();
    },
  );

  test.each(cases)(
    "%s broken goes to the server with --no-local-checks",
    async (_rule, code, exit, words) => {
      const { env, sent } = await site(NODES, refusal(422, code, "no"));
      const ran = await fairlead([...words(), "--no-local-checks", "--json"], { env });
      expect(ran.code).toBe(exit);
      expect(ran.json()).toMatchObject({ error: { code, detail: { request_id: "req-1" } } });
      expect(sent()).toBeDefined();
    },
  );

  test.each([
    ["ROLLOUT_ACTIVE", 409, 4, "Rule 5"],
    ["MANIFEST_HASH_MISMATCH", 422, 3, "Rule 6"],
    ["INTENT_REQUIRED", 422, 8, "Sign an intent"],
    ["INTENT_UNTRUSTED", 422, 8, "Sign with a release key"],
  ])("the server's %s has its exit code and says what to do", async (code, status, exit, next) => {
    const { env } = await site(NODES, refusal(status, code, "no"));
    const ran = await fairlead(typed(), { env });
    expect(ran.code).toBe(exit);
    expect(ran.err).toContain(`error ${code}: no\nwhat to do: ${next}`);
  });

  test("INTENT_REQUIRED without a key says where one would come from", async () => {
    const { url } = await site(NODES, refusal(422, "INTENT_REQUIRED", "a key must sign"));
    const ran = await fairlead(typed(), { env: await homeFor(url) });
    expect(ran.err).toContain(
      "a key must sign, and context default has no release key: give --release-key FILE",
    );
  });

  test("no node to upgrade is the server's to explain, and nothing is signed for it", async () => {
    const { env } = await site([], refusal(422, "NO_ELIGIBLE_NODES", "none runs it"));
    expect((await fairlead([...typed(), "--json"], { env })).json()).toMatchObject({
      error: { code: "NO_ELIGIBLE_NODES" },
    });
  });
});
