import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { composeIntent, leavesOf, signedIntent } from "../../../src/cli/rollout/intent.ts";
import { Digest, NodeId, ProfileId, RolloutId } from "../../../src/core/ids.ts";
import type { NodeView } from "../../../src/core/protocol/operator-api.ts";
import { hashedRequest, RolloutCreate, RolloutCreateManual } from "../../../src/core/rollout/create.ts";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { digestOf, digestOfJson } from "../../../src/trust/digest.ts";
import { runDigest, verifyIntent } from "../../../src/trust/intent.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { nodesTree, provesLeaf } from "../../../src/trust/merkle.ts";
import { nodeSample, ROLLOUT_ID, rolloutSample, uuid } from "./samples.ts";
import { fairlead, homeFor, PINS, refusal, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

const { signer, pem } = generateSigner();
const CHECKSUM = `sha256:${"5".repeat(64)}`;
const NODES = [1, 2, 3].map((n) => nodeSample(n));
const bundle = TrustBundle.parse({
  demo: false,
  intents_required: true,
  root: { threshold: 1, keys: [generateSigner().signer.record] },
  online_keys: [],
  release_keys: [
    {
      ...signer.record,
      valid_from: "2020-01-01T00:00:00.000Z",
      valid_until: "2999-01-01T00:00:00.000Z",
      name: "r",
      profiles: [],
    },
  ],
  publisher_keys: [],
  revoked_keys: [],
  recovery: null,
});
const time = { local: Date.now(), effective: Date.now() };

const manifestText = (more = ""): string => `upgrade_id: v2
chain_profile_id: demo-http
binary_name: demo
target_version: 2.0.0
target_url: http://127.0.0.1:1/demo
target_checksum: ${CHECKSUM}
run:
  args: ["--port", "1"]
config_changes:
  - path: z.conf
    content: zed
  - path: a.conf
    mode: "0600"
    content: ay
${more}`;

async function site(nodes: readonly NodeView[] = NODES, refuse?: ReturnType<typeof refusal>) {
  const fixture = await serve(({ method, url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes, next_cursor: null } };
    if (pathname === "/api/v1/rollouts" && method === "POST")
      return refuse ?? { status: 201, json: rolloutSample({ status: "pending" }) };
    if (pathname === `/api/v1/rollouts/${ROLLOUT_ID}/start`) return { status: 202, json: rolloutSample() };
    return undefined;
  });
  const folder = await temporaryFolder();
  const [key, manifest] = [join(folder, "release.pem"), join(folder, "v2.yaml")];
  await writeFile(key, pem);
  await writeFile(manifest, manifestText());
  const env = await homeFor(fixture.url, { release_key_file: key });
  const sent = () => {
    const post = fixture.asked.find(
      ({ method, url }) => method === "POST" && url.pathname === "/api/v1/rollouts",
    );
    return post === undefined ? undefined : RolloutCreate.parse(post.body);
  };
  return { ...fixture, env, key, manifest, sent };
}

const BASE = ["rollout", "create", "--type", "small", "--source-version", "1.0.0"];
const typed = (checksum = CHECKSUM, target = "2.0.0") => [
  ...BASE,
  `--profile=demo-http`,
  `--binary-name=demo`,
  `--target-version=${target}`,
  `--url=http://127.0.0.1:1/demo`,
  `--checksum=${checksum}`,
];

describe("the intent of a rollout (SNAP-15)", () => {
  const wish = {
    profile: ProfileId.parse("demo-http"),
    run: { args: ["a"], env: {}, user: null },
    configs: [{ path: "a.conf", mode: "0644", sha256: Digest.parse(CHECKSUM) }],
  };
  const facts = {
    clusterId: PINS.cluster_id,
    rolloutId: RolloutId.parse(ROLLOUT_ID),
    nodeIds: [1, 2, 3].map((n) => NodeId.parse(uuid(n))),
    wish,
    fingerprint: Digest.parse(CHECKSUM),
    now: time.local,
    windowMs: 3_600_000,
    maxAttempts: 3,
    rollback: true,
    canarySeed: Buffer.alloc(32, 7),
  };

  test("verifies with the release key, and proves each node's leaf", () => {
    const { intent } = verifyIntent(Buffer.from(signedIntent(facts, signer), "base64"), bundle, time);
    expect(intent).toEqual(composeIntent(facts));
    expect(intent).toMatchObject({
      serial: time.local,
      run_digest: runDigest(wish.run),
      rollback: "previous",
    });
    const tree = nodesTree(leavesOf(facts));
    for (const leaf of leavesOf(facts))
      expect(provesLeaf(leaf, tree.proof(leaf.node_id), intent.nodes_root!)).toBe(true);
  });

  test("proves no leaf that was changed: another node, another config, another mode", () => {
    const { nodes_root } = composeIntent(facts);
    const tree = nodesTree(leavesOf(facts));
    const [leaf] = leavesOf(facts);
    const proof = tree.proof(leaf!.node_id);
    const config = leaf!.configs[0]!;
    for (const changed of [
      { ...leaf!, node_id: NodeId.parse(uuid(4)) },
      { ...leaf!, configs: [] },
      { ...leaf!, configs: [{ ...config, mode: "0777" }] },
      { ...leaf!, configs: [{ ...config, sha256: digestOf("evil") }] },
    ])
      expect(provesLeaf(changed, proof, nodes_root!)).toBe(false);
  });

  test("a changed byte, or a key that the bundle does not name, is not trusted", () => {
    const bytes = Buffer.from(signedIntent(facts, signer), "base64");
    const flipped = Buffer.from(bytes);
    flipped[40] = flipped[40]! ^ 1;
    expect(() => verifyIntent(flipped, bundle, time)).toThrow();
    const stranger = Buffer.from(signedIntent(facts, generateSigner().signer), "base64");
    expect(() => verifyIntent(stranger, bundle, time)).toThrow("is not in the trust bundle");
  });
});

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
      nodeSample(4, { state: "maintenance" }),
      nodeSample(5, { enrolled: false }),
      nodeSample(6, { state: "degraded" }),
    ];
    const { env, sent } = await site(nodes);
    await fairlead(typed(), { env });
    expect(sent()!.node_ids).toEqual([uuid(1), uuid(6)]);
  });

  test("--start starts it at once", async () => {
    const { env, asked } = await site();
    const ran = await fairlead([...typed(), "--start", "--reason", "now", "--json"], { env });
    expect(ran.json()).toMatchObject({ status: "running" });
    expect(asked.at(-1)!.body).toEqual({ reason: "now" });
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

describe("manifests on the command line (USE-4)", () => {
  test.each([
    ["a wrong value", manifestText("runtime: [\n"), /v2\.yaml:\d+:\d+: /],
    [
      "a wrong field",
      manifestText().replace("target_version: 2.0.0", "target_version: 'no spaces'"),
      /v2\.yaml:4:17: target_version/,
    ],
    [
      "a path out of the folder",
      manifestText().replace("z.conf", "../z"),
      /v2\.yaml:10:11: config_changes\.0\.path/,
    ],
    ["an unknown field", manifestText("bogus: 1\n"), /v2\.yaml:\d+:\d+: .*bogus/],
    ["a key twice", manifestText("upgrade_id: v3\n"), /v2\.yaml:15:1: .*unique/],
    ["no mapping", "just text", /v2\.yaml:1:1/],
  ])("%s is MANIFEST_INVALID at its line and column", async (_what, text, place) => {
    const { env, manifest } = await site();
    await writeFile(manifest, text);
    const ran = await fairlead([...BASE, "--manifest", manifest], { env });
    expect(ran.code).toBe(3);
    expect(ran.err).toMatch(/^error MANIFEST_INVALID: /);
    expect(ran.err).toMatch(place);
    const json = (await fairlead([...BASE, "--manifest", manifest, "--json"], { env })).json();
    const { detail } = (json as { error: { detail: { file: string; line: number; column: number } } }).error;
    expect(ran.err).toContain(`${manifest}:${detail.line}:${detail.column}: `);
    expect(detail.file).toBe(manifest);
  });

  test("an alias bomb is refused", async () => {
    const { env, manifest } = await site();
    const levels = Array.from(
      { length: 9 },
      (_, n) =>
        `${"abcdefghi"[n]!}${n}: &l${n} [${n === 0 ? "x" : Array.from({ length: 9 }, () => `*l${n - 1}`).join(",")}]`,
    );
    await writeFile(manifest, levels.join("\n"));
    expect((await fairlead([...BASE, "--manifest", manifest], { env })).err).toMatch(
      /^error MANIFEST_INVALID/,
    );
  });

  test.each([
    [["--manifest", "/nowhere.yaml"], 3, /--manifest \/nowhere\.yaml: there is no such file/],
    [["--manifest", "/"], 3, /--manifest \/: /],
    [["--manifest", "x.yaml", "--checksum", "y"], 2, /--manifest says what to install/],
    [[], 2, /give --manifest, or else --profile, --binary-name, --target-version, --url/],
  ])("wrong words %j are told by flag", async (more, exit, message) => {
    const { env } = await site();
    const ran = await fairlead([...BASE, ...more], { env });
    expect(ran.code).toBe(exit);
    expect(ran.err).toMatch(message);
  });

  test("a release key that is none is told by flag", async () => {
    const { env, manifest } = await site();
    const ran = await fairlead([...typed(), "--release-key", manifest], { env });
    expect(ran.err).toContain(`--release-key ${manifest}: not an Ed25519 key`);
  });
});
