import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { GroupCreate } from "../../../src/core/protocol/group-api.ts";
import { verifyIntent } from "../../../src/trust/intent.ts";
import { bundle, CHECKSUM, manifestText, NODES, site, time } from "./rollout-site.ts";
import { rolloutSample, uuid } from "./samples.ts";
import { fairlead, homeFor, refusal, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

const GROUP_FILE = `chain_profile_id: demo-http
failure_policy: rollback_all
desired_versions: { demo: 2.0.0, edged: 3.0.0 }
strategy: canary
health_wait_seconds: 5
components:
  - upgrade_id: v2
    node_type: small
    source_version: 1.0.0
    nodes: [node-1]
    canary_size: 1
  - binary_name: edged
    target_version: 3.0.0
    target_binary_url: https://dl.example/edged
    target_binary_checksum: ${CHECKSUM}
    node_type: small
    source_version: 1.0.0
    strategy: rolling
    batch_size: 2
    nodes: [node-2, node-3]
`;

const viewOf = ({ id, component_order, health_wait_seconds }: GroupCreate) => ({
  id,
  chain_profile_id: "demo-http",
  status: "pending",
  failure_policy: "rollback_all",
  strategy: "canary",
  desired_versions: {},
  current_component: -1,
  health_wait_seconds,
  gate_until: null,
  pause_requested: false,
  cancel_requested: false,
  why: null,
  components: component_order.map(({ component_index, binary_name, rollout }) => ({
    component_index,
    binary_name,
    rollout: rolloutSample({ id: rollout.id, group_id: id, component_index }),
  })),
  created_by: "admin",
  created_at: "2026-01-01T00:00:00.000Z",
  started_at: null,
  ended_at: null,
});

async function groupSite(text = GROUP_FILE, refuse?: ReturnType<typeof refusal>) {
  const { key } = await site();
  let created: GroupCreate | undefined;
  let lost = 0;
  let looks = 0;
  const fixture = await serve(({ method, url: { pathname }, body }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes: NODES, next_cursor: null } };
    // As the server does: the signal is a row, and the drive applies it after the answer.
    if (pathname.endsWith("/start")) return { json: viewOf(created!) };
    if (created !== undefined && pathname.endsWith(created.id))
      return { json: { ...viewOf(created), status: ++looks < 3 ? "pending" : "running" } };
    if (method !== "POST" || pathname !== "/api/v1/rollout-groups") return undefined;
    if (refuse !== undefined && lost++ === 0) return refuse;
    created = GroupCreate.parse(body);
    return { status: 201, json: viewOf(created) };
  });
  const folder = await temporaryFolder();
  await mkdir(join(folder, "upgrades/demo-http"), { recursive: true });
  await writeFile(join(folder, "upgrades/demo-http/v2.yaml"), manifestText());
  const file = join(folder, "group.yaml");
  await writeFile(file, text);
  const env = await homeFor(fixture.url, { release_key_file: key });
  const create = (...more: string[]) => fairlead(["group", "create", "--file", file, ...more], { env });
  return { ...fixture, create, file, sent: () => created };
}

describe("fairlead group create (ROLL-13, USE-2)", () => {
  test("fills in the nodes and signs an intent for each component", async () => {
    const { create, sent } = await groupSite();
    const ran = await create();
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/component 0, demo: signing with release key \w+ for 1 node: node-1\n/);
    expect(ran.err).toMatch(/component 1, edged: signing with release key \w+ for 2 nodes: node-2, node-3\n/);
    const group = sent()!;
    expect(group).toMatchObject({
      failure_policy: "rollback_all",
      health_wait_seconds: 5,
      desired_versions: { demo: "2.0.0", edged: "3.0.0" },
    });
    const [first, second] = group.component_order;
    expect(first).toMatchObject({
      component_index: 0,
      binary_name: "demo",
      rollout: { upgrade_id: "v2", strategy: "canary", canary_size: 1, node_ids: [uuid(1)], batch_size: 1 },
    });
    expect(second).toMatchObject({
      component_index: 1,
      binary_name: "edged",
      rollout: { target_version: "3.0.0", strategy: "rolling", node_ids: [uuid(2), uuid(3)], batch_size: 2 },
    });
    for (const { rollout } of group.component_order) {
      const { intent } = verifyIntent(Buffer.from(rollout.intent!, "base64"), bundle, time);
      expect(intent).toMatchObject({
        rollout_id: rollout.id,
        nodes_root: rollout.nodes_root,
        fingerprint: CHECKSUM,
      });
    }
    expect(ran.out).toMatch(
      /^group [0-9a-f-]{36}: demo-http, rollback_all, pending\n {2}0 demo .*\n {2}1 edged /,
    );
  });

  test("--start starts it, --no-sign signs nothing, and an answer that was lost is asked for again", async () => {
    const { create, sent } = await groupSite(GROUP_FILE, refusal(503, "NOT_READY", "a moment"));
    const ran = await create("--start", "--no-sign", "--json");
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(ran.json()).toMatchObject({ status: "running" });
    expect(sent()!.component_order.some(({ rollout }) => rollout.intent !== undefined)).toBe(false);
  });

  test.each([
    ["no policy", ["failure_policy: rollback_all\n", ""], "GROUP_POLICY_REQUIRED"],
    ["no desired versions", ["{ demo: 2.0.0, edged: 3.0.0 }", "{}"], "GROUP_VERSIONS_REQUIRED"],
    ["a version for nothing", ["edged: 3.0.0 }", "edged: 3.0.0, other: 1.0.0 }"], "GROUP_ORDER_INCOMPLETE"],
    ["another version than desired", ["demo: 2.0.0", "demo: 2.0.1"], "GROUP_ORDER_INCOMPLETE"],
    ["an empty checksum", [CHECKSUM, '""'], "CHECKSUM_REQUIRED"],
    [
      "a canary's size without a canary",
      ["strategy: rolling", "canary_size: 2\n    strategy: rolling"],
      "INVALID_INPUT",
    ],
  ] as const)("%s is told before anything is sent", async (_what, [from, to], code) => {
    const { create, sent } = await groupSite(GROUP_FILE.replace(from, to));
    const ran = await create("--json");
    expect([ran.code, ran.json<{ error: { code: string } }>().error.code]).toEqual([3, code]);
    expect(sent()).toBeUndefined();
  });

  test.each([
    [
      "an unknown key",
      ["health_wait_seconds", "health_wait"],
      /group\.yaml:5:1: health_wait: unknown key/,
      3,
    ],
    [
      "an upgrade that is a path",
      ["upgrade_id: v2", "upgrade_id: ../../etc"],
      /group\.yaml:7:17: components\.0\.upgrade_id/,
      3,
    ],
    [
      "a manifest that is not there",
      ["upgrade_id: v2", "upgrade_id: v9"],
      /upgrades\/demo-http\/v9\.yaml: there is no such file/,
      5,
    ],
    ["an alias", ["nodes: [node-1]", "nodes: &n [node-1]\n    node_labels: *n"], /aliases are refused/, 3],
    [
      "a field of neither kind",
      ["binary_name: edged", "binray_name: edged"],
      /group\.yaml:12:5: components\.1/,
      3,
    ],
  ] as const)("%s is told with its place", async (_what, [from, to], message, exit) => {
    const { create, sent } = await groupSite(GROUP_FILE.replace(from, to));
    const ran = await create();
    expect([ran.code, ran.err]).toEqual([exit, expect.stringMatching(message)]);
    expect(sent()).toBeUndefined();
  });
});
