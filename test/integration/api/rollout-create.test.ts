// From a request to rows: creation rules on the server, nodes, batches, config files.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import {
  digestLike,
  manifestYaml,
  manualRequest,
  startCreationSite,
  V1,
  V2,
  type CreationSite,
} from "../../support/server/creation-site.ts";
import { administrator } from "../../support/server/operators-client.ts";
import { atOnce } from "../../support/server/at-once.ts";

let site: CreationSite;
let nodes: NodeId[];

beforeAll(async () => {
  site = await startCreationSite();
  nodes = [];
  for (const [at, zone] of ["a", "a", "a", "b", "b"].entries())
    nodes.push(await site.addNode(`n${at}`, { labels: { zone, tier: at === 0 ? "gold" : "tin" } }));
});
afterAll(() => site.stop());
beforeEach(async () => {
  await site.db`update rollouts set status = 'cancelled' where status <> 'completed'`;
});

const create = (changes: object = {}) => site.ask("POST", "/rollouts", manualRequest(changes));
async function created(changes: object = {}): Promise<RolloutView> {
  const answer = await create(changes);
  expect(answer).toMatchObject({ status: 201 });
  return RolloutView.parse(answer.body);
}
const counts = () => site.db`
  select (select count(*) from rollouts) as rollouts, (select count(*) from rollout_nodes) as nodes,
    (select count(*) from rollout_configs) as configs, (select count(*) from profile_claims) as claims,
    (select count(*) from events where kind = 'rollout.created') as events`;
const image = { runtime: "docker", target_binary_url: `registry.example/web@${V2}` };
const breaking = {
  migration_type: "breaking",
  recovery_plan: "restore the volume",
  strategy: "canary",
  acknowledge_state_risk: true,
};

describe("creation rules, each with its own code (ROLL-3)", () => {
  test.each<[number, string, string, object]>([
    [1, "CHECKSUM_REQUIRED", "an empty checksum", { target_binary_checksum: "" }],
    [2, "CHECKSUM_NOT_SHA256", "an image without sha256", { ...image, target_binary_checksum: "md5:1" }],
    [3, "IMAGE_NOT_PINNED", "a tag-only image", { ...image, target_binary_url: "registry.example/web:2" }],
    [
      4,
      "VERSION_UNCHANGED",
      "the version that runs",
      { target_version: "1.0.0", target_binary_checksum: V1 },
    ],
    [6, "MANIFEST_HASH_MISMATCH", "another hash than the request's", { manifest_content_hash: V2 }],
    [7, "BREAKING_UNSAFE", "breaking without a canary", { ...breaking, strategy: "rolling" }],
    [7, "BREAKING_UNSAFE", "breaking without a plan", { ...breaking, recovery_plan: "  " }],
    [
      7,
      "BREAKING_UNSAFE",
      "breaking without the acknowledgement",
      { ...breaking, acknowledge_state_risk: false },
    ],
  ])("rule %i answers %s for %s, and writes nothing", async (rule, code, _what, changes) => {
    const before = await counts();
    const answer = await create(changes);
    expect(answer).toMatchObject({ status: 422, code });
    expect(answer.body).toMatchObject({ error: { detail: { rule } } });
    expect(await counts()).toEqual(before);
  });

  test("ROLL-2: rule 5, a second active rollout of the profile, is ROLLOUT_ACTIVE and names the first", async () => {
    const first = await created();
    const second = await create();
    expect(second).toMatchObject({ status: 409, code: "ROLLOUT_ACTIVE" });
    expect(second.body).toMatchObject({ error: { detail: { rule: 5, rollout_id: first.id } } });
  });

  test("ROLL-2: of two at once, one is created; the database decides", async () => {
    // Both have passed every check of their own when the first one claims the profile.
    const answers = await atOnce(
      site.db,
      (tx) => tx`lock table profile_claims in share row exclusive mode`,
      [1, 2].map(() => () => create()),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["201", "409"]);
    expect(await site.db`select 1 from rollouts where status = 'pending'`).toHaveLength(1);
  });

  test("a breaking migration with all that it needs, and an image by digest, are created", async () => {
    const canary = await created({ ...breaking, canary_size: 2 });
    expect(canary).toMatchObject({ rollback_tier: 3, strategy: "canary", canary_size: 2, batch_count: 3 });
    await site.db`update rollouts set status = 'cancelled' where id = ${canary.id}`;
    expect(await created(image)).toMatchObject({ runtime: "docker", rollback_tier: 1 });
  });
});

test("ROLL-18: a rollout says who created it: the caller, whatever the request says", async () => {
  const { user: boss } = (await site.ask("GET", "/whoami")).body as { user: string };
  const first = await created();
  expect(first.created_by).toBe(boss);
  const askAsOther = await administrator(site.app, site.db, "deputy");
  const { user: deputy } = (await askAsOther("GET", "/whoami")).body as { user: string };
  expect(deputy).not.toBe(boss);
  await site.db`update rollouts set status = 'cancelled' where id = ${first.id}`;
  const claimed = await askAsOther("POST", "/rollouts", manualRequest({ created_by: boss }));
  expect(claimed).toMatchObject({ status: 400, code: "INVALID_INPUT" });
  const { id } = RolloutView.parse((await askAsOther("POST", "/rollouts", manualRequest())).body);
  expect((await site.ask("GET", `/rollouts/${id}`)).body).toMatchObject({ created_by: deputy });
});

describe("a change of config files alone is exempt from rule 4 (ROLL-3)", () => {
  const same = { target_version: "1.0.0", target_binary_checksum: V1 };
  const config = (content: string) => ({ config_files: [{ path: "a.conf", content }] });

  test("with the same checksum and a file that differs it is created; the same file again is not", async () => {
    const first = await created({ ...same, ...config("one") });
    await site.complete(first.id);
    expect(await create({ ...same, ...config("one") })).toMatchObject({
      status: 422,
      code: "VERSION_UNCHANGED",
    });
    const other = await created({
      ...same,
      config_files: [{ path: "a.conf", mode: "0640", content: "one" }],
    });
    await site.complete(other.id);
    expect((await create({ ...same, ...config("two") })).status).toBe(201);
  });

  test("with another checksum under the same version it is VERSION_UNCHANGED", async () => {
    const answer = await create({ ...same, target_binary_checksum: digestLike("7"), ...config("three") });
    expect(answer).toMatchObject({ status: 422, code: "VERSION_UNCHANGED" });
  });
});

describe("which nodes, in which batches (ROLL-12)", () => {
  const batchesOf = async (id: string) => {
    const rows = await site.db<{ batch_index: number; zones: string[] }[]>`
      select rn.batch_index, array_agg(n.labels->>'zone' order by n.labels->>'zone') as zones
      from rollout_nodes rn join nodes n on n.id = rn.node_id
      where rn.rollout_id = ${id} group by 1 order by 1`;
    return rows.map(({ zones }) => zones.join(""));
  };

  test("labels select, node_ids name, and both must fit", async () => {
    const gold = await created({ node_labels: { zone: "a", tier: "gold" } });
    expect(gold).toMatchObject({ counters: { total: 1 }, node_labels: { zone: "a", tier: "gold" } });
    const none = await create({ node_labels: { zone: "c" }, chain_profile_id: "other" });
    expect(none).toMatchObject({ status: 422, code: "NO_ELIGIBLE_NODES" });
    expect(none.message).toContain("zone=c");
    await site.db`update rollouts set status = 'cancelled' where id = ${gold.id}`;
    const wrong = await create({ node_labels: { zone: "b" }, node_ids: [nodes[0]!] });
    expect(wrong.code).toBe("NO_ELIGIBLE_NODES");
  });

  test.each([
    ["revoked", "update nodes set revoked_at = now()", "update nodes set revoked_at = null"],
    ["down", "update nodes set state = 'down'", "update nodes set state = 'active'"],
    ["not yet enrolled", "update nodes set enrolled_at = null", "update nodes set enrolled_at = now()"],
  ])("ROLL-12: a node that is %s takes no part, and cannot be named", async (_what, leave, back) => {
    const away = nodes[4]!;
    await site.db.unsafe(`${leave} where id = $1`, [away]);
    try {
      expect(await created()).toMatchObject({ counters: { total: 4 } });
      await site.db`update rollouts set status = 'cancelled'`;
      expect(await create({ node_ids: [away] })).toMatchObject({ status: 422, code: "NO_ELIGIBLE_NODES" });
    } finally {
      await site.db.unsafe(`${back} where id = $1`, [away]);
    }
    expect(await created()).toMatchObject({ counters: { total: 5 } });
  });

  test("ROLL-28: a node whose program is in maintenance takes no part; a failed program does", async () => {
    const set = (state: string) =>
      site.db`update node_profiles set state = ${state} where node_id = ${nodes[4]!}`;
    await set("maintenance");
    expect(await created()).toMatchObject({ counters: { total: 4 } });
    await site.db`update rollouts set status = 'cancelled'`;
    await set("failed");
    expect(await created()).toMatchObject({ counters: { total: 5 } });
    await set("active");
  });

  test("max_unavailable cuts batches so that none holds more of one zone", async () => {
    const { id, max_unavailable } = await created({
      batch_size: 5,
      max_unavailable: { label: "zone", count: 1 },
    });
    expect(max_unavailable).toEqual({ label: "zone", count: 1 });
    expect((await batchesOf(id)).toSorted()).toEqual(["a", "ab", "ab"]);
  });

  test("all at once is one batch, whatever its size", async () => {
    const all = await created({ strategy: "all_at_once", skip_validation: true, force_continue: true });
    expect(all).toMatchObject({ batch_count: 1, skip_validation: true, force_continue: true });
    expect(await batchesOf(all.id)).toEqual(["aaabb"]);
  });

  test("canary is one random node first unless said", async () => {
    const canary = await created({ strategy: "canary", batch_size: 4 });
    expect(canary).toMatchObject({ batch_count: 2, canary_size: 1 });
    expect((await batchesOf(canary.id)).map((zones) => zones.length)).toEqual([1, 4]);
  });

  test.each<[string, object]>([
    ["a canary's size without a canary", { canary_size: 2 }],
    ["no validation where batches follow", { skip_validation: true }],
    [
      "a limit where all go at once",
      { strategy: "all_at_once", max_unavailable: { label: "zone", count: 1 } },
    ],
    ["a canary of none", { strategy: "canary", canary_size: 0 }],
    ["a limit of none", { max_unavailable: { label: "zone", count: 0 } }],
    ["a label with a NUL", { node_labels: { zone: "\0" } }],
    ["an address with a NUL", { target_binary_url: "https://x/\0" }],
    ["a plan with a NUL", { recovery_plan: "\0" }],
    ["a label of a megabyte", { node_labels: { zone: "a".repeat(1 << 20) } }],
    ["a config with a NUL", { config_files: [{ path: "a", content: "\0" }] }],
    ["a config outside its folder", { config_files: [{ path: "../a", content: "x" }] }],
    ["an upgrade that is a path", { upgrade_id: "../../etc" }],
    ["a template, which manual mode has not", { config_files: [{ path: "a", template: "x" }] }],
  ])("%s is INVALID_INPUT and writes nothing", async (_what, changes) => {
    const before = await counts();
    expect(await create(changes)).toMatchObject({ status: 400, code: "INVALID_INPUT" });
    expect(await counts()).toEqual(before);
  });
});

describe("config files of each node (ROLL-17)", () => {
  const auto = (changes: object = {}) => {
    const { id, chain_profile_id, node_type, source_version, batch_size } = manualRequest();
    return { id, chain_profile_id, node_type, source_version, batch_size, upgrade_id: "v2", ...changes };
  };
  const templated = (changes: object = {}) =>
    manifestYaml({
      config_changes: [
        { path: "node.conf", template: "node.liquid", variables: { port: 80 } },
        { path: "all.conf", content: "same" },
      ],
      variable_overrides: { port: 8080 },
      ...changes,
    });

  test("each node has its own rows, everyone's stand once, and equal files are kept once", async () => {
    await site.write("upgrades/web/v2.yaml", templated());
    await site.write("templates/node.liquid", "zone {{ node.labels.zone }} port {{ port }}\n");
    const answer = await site.ask("POST", "/rollouts", auto());
    expect(answer).toMatchObject({ status: 201, body: { upgrade_id: "v2", target_version: "2.0.0" } });
    const { id } = RolloutView.parse(answer.body);
    const rows = await site.db<{ zone: string | null; path: string; bytes: Buffer }[]>`
      select n.labels->>'zone' as zone, rc.path, b.bytes from rollout_configs rc
      join blobs b on b.digest = rc.sha256 left join nodes n on n.id = rc.node_id
      where rc.rollout_id = ${id} order by 1, 2`;
    expect(rows.map(({ zone, path, bytes }) => [zone, path, bytes.toString()])).toEqual([
      ...["a", "a", "a", "b", "b"].map((zone) => [zone, "node.conf", `zone ${zone} port 8080\n`]),
      [null, "all.conf", "same"],
    ]);
    const digest = digestOf("zone a port 8080\n");
    expect(await site.db`select 1 from blobs where digest = ${digest}`).toHaveLength(1);
  });

  test("a template expression in an override is written as it stands", async () => {
    await site.write("upgrades/web/v2.yaml", templated({ variable_overrides: { port: "{{ node.id }}" } }));
    await site.write("templates/node.liquid", "{{ port }}");
    expect((await site.ask("POST", "/rollouts", auto())).status).toBe(201);
    expect(await site.db`select 1 from blobs where digest = ${digestOf("{{ node.id }}")}`).toHaveLength(1);
  });

  test.each<[string, string, string, object, string]>([
    [
      "an unknown variable",
      "TEMPLATE_INVALID",
      "a\n{{ prot }} {{ port }}",
      {},
      "templates/node.liquid:2:4: ",
    ],
    ["a label that a node lacks", "TEMPLATE_INVALID", "{{ node.labels.rack }}{{ port }}", {}, "(for node n"],
    [
      "a template inside a template",
      "TEMPLATE_INVALID",
      "{% include 'x' %}",
      {},
      "templates/node.liquid:1:1: ",
    ],
    [
      "a mode too open for a reference",
      "CONFIG_MODE_UNSAFE",
      "{{ port }}",
      {
        config_changes: [{ path: "node.conf", template: "node.liquid", mode: "0644" }],
        variable_overrides: { port: "secret://a/b" },
      },
      "upgrades/web/v2.yaml:1:",
    ],
    [
      "a raw secret in a template",
      "CONFIG_SECRET_FOUND",
      "name: {{ node.name }}\npassword: hunter{{ port }}\n",
      {},
      "node.conf, line 2: it looks like a secret by its name",
    ],
    [
      "a raw secret in an override",
      "CONFIG_SECRET_FOUND",
      "db: {{ port }}",
      { variable_overrides: { port: "postgres://app:hunter2@db/app" } },
      "a password in an address",
    ],
  ])("%s is %s with its place, and writes nothing", async (_what, code, template, changes, place) => {
    await site.write("upgrades/web/v2.yaml", templated(changes));
    await site.write("templates/node.liquid", template);
    const before = await counts();
    const answer = await site.ask("POST", "/rollouts", auto());
    expect(answer).toMatchObject({ status: 422, code });
    expect(answer.message).toContain(place);
    expect(await counts()).toEqual(before);
  });

  test("a caller that rendered something else is refused with CONFIGS_DIFFER", async () => {
    const answer = await create({ nodes_root: "0".repeat(64) });
    expect(answer).toMatchObject({ status: 422, code: "CONFIGS_DIFFER" });
  });

  test("a file with a secret reference is 0600 without being told", async () => {
    const { id } = await created({ config_files: [{ path: "s.conf", content: "p: secret://vault/p" }] });
    const [row] = await site.db`select mode from rollout_configs where rollout_id = ${id}`;
    expect(row).toEqual({ mode: "0600" });
  });

  test("SNAP-5: a config file with a raw secret, sent as it is, is refused and stored nowhere", async () => {
    const before = await counts();
    const content = "user = app\napi_key = 0123456789abcdef\n";
    const answer = await create({ config_files: [{ path: "s.conf", content }] });
    expect(answer).toMatchObject({ status: 422, code: "CONFIG_SECRET_FOUND" });
    expect(answer.message).not.toContain("0123456789abcdef");
    expect(await counts()).toEqual(before);
  });
});
