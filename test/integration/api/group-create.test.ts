// Groups: all components or none, one claim for all of their profiles, and the same wish twice is one group.

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { GroupView } from "../../../src/core/protocol/group-api.ts";
import {
  manifestYaml,
  manualRequest,
  startCreationSite,
  type CreationSite,
} from "../../support/server/creation-site.ts";
import { atOnce } from "../../support/server/at-once.ts";

let site: CreationSite;
let web: NodeId;

beforeAll(async () => {
  site = await startCreationSite();
  web = await site.addNode("web-1");
  await site.addNode("api-1", { profile: "api" });
  await site.write("upgrades/api/v2.yaml", manifestYaml({ chain_profile_id: "api", binary_name: "api" }));
});
afterAll(() => site.stop());
afterEach(async () => {
  await site.db`update rollouts set status = 'cancelled'`;
  await site.db`update rollout_groups set status = 'cancelled'`;
});

const webComponent = (changes: object = {}) => ({
  component_index: 0,
  binary_name: "web",
  rollout: manualRequest(changes),
});
const apiComponent = (changes: object = {}) => ({
  component_index: 1,
  binary_name: "api",
  rollout: {
    id: randomUUID(),
    chain_profile_id: "api",
    node_type: "edge",
    source_version: "1.0.0",
    batch_size: 1,
    upgrade_id: "v2",
    ...changes,
  },
});
const group = (changes: object = {}) => ({
  id: randomUUID(),
  chain_profile_id: "web",
  failure_policy: "rollback_all",
  desired_versions: { web: "2.0.0", api: "2.0.0" },
  component_order: [webComponent(), apiComponent()],
  ...changes,
});
const create = (body: object) => site.ask("POST", "/rollout-groups", body);
const counts = () => site.db`
  select (select count(*) from rollouts) as rollouts, (select count(*) from rollout_groups) as groups,
    (select count(*) from rollout_nodes) as nodes, (select count(*) from profile_claims) as claims,
    (select count(*) from events) as events`;

describe("creating a group (ROLL-2, ROLL-13)", () => {
  test("all components are created with it, in their order, and hold their profiles", async () => {
    const answer = await create(group());
    expect(answer).toMatchObject({ status: 201 });
    const view = GroupView.parse(answer.body);
    expect(view).toMatchObject({ status: "pending", failure_policy: "rollback_all", current_component: -1 });
    expect(
      view.components.map(({ binary_name, rollout }) => [binary_name, rollout.group_id, rollout.status]),
    ).toEqual([
      ["web", view.id, "pending"],
      ["api", view.id, "pending"],
    ]);
    const claims = await site.db`select chain_profile_id, owner from profile_claims order by 1`;
    expect([...claims]).toEqual(
      ["api", "web"].map((chain_profile_id) => ({ chain_profile_id, owner: view.id })),
    );
    const kinds = await site.db`select kind from events where group_id = ${view.id} order by id`;
    expect(kinds.map(({ kind }) => kind as string)).toEqual([
      "group.created",
      "rollout.created",
      "rollout.created",
    ]);
  });

  test("ROLL-12: a component without a strategy of its own has the group's", async () => {
    const { strategy: _rolling, ...plain } = webComponent().rollout;
    const components = [{ ...webComponent(), rollout: plain }, apiComponent({ strategy: "rolling" })];
    const answer = await create(group({ strategy: "canary", component_order: components }));
    const { strategy, components: created } = GroupView.parse(answer.body);
    expect([strategy, ...created.map(({ rollout }) => rollout.strategy)]).toEqual([
      "canary",
      "canary",
      "rolling",
    ]);
  });

  test("ROLL-3: rule 5, a profile of the group or of a component that is held, is ROLLOUT_ACTIVE", async () => {
    expect((await create(group())).status).toBe(201);
    const before = await counts();
    for (const body of [
      group(),
      group({ desired_versions: { web: "2.0.0" }, component_order: [webComponent()] }),
    ])
      expect(await create(body)).toMatchObject({ status: 409, code: "ROLLOUT_ACTIVE" });
    const alone = await site.ask("POST", "/rollouts", apiComponent().rollout);
    expect(alone).toMatchObject({ status: 409, code: "ROLLOUT_ACTIVE" });
    expect(alone.message).toBe("profile api has an active group");
    expect(await counts()).toEqual(before);
  });

  test("of two groups at once over the same profiles in another order, one is created", async () => {
    const crossed = group({
      chain_profile_id: "api",
      component_order: [
        { ...apiComponent(), component_index: 0 },
        { ...webComponent(), component_index: 1 },
      ],
    });
    const both = await atOnce(site.db, (tx) => tx`lock table profile_claims in share row exclusive mode`, [
      () => create(group()),
      () => create(crossed),
    ]);
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(["201", "409"]);
  });

  test("the same wish under the same id is the same group; another one is STATE_MOVED", async () => {
    const body = group();
    expect((await create(body)).status).toBe(201);
    const before = await counts();
    const again = await create(body);
    expect([again.status, (again.body as GroupView).id]).toEqual([201, body.id]);
    expect(await create({ ...body, failure_policy: "manual" })).toMatchObject({
      status: 409,
      code: "STATE_MOVED",
    });
    expect(await counts()).toEqual(before);
  });

  test.each<[string, string, number, () => object]>([
    [
      "an order that is not 0, 1, …",
      "GROUP_ORDER_INVALID",
      8,
      () => ({ component_order: [apiComponent(), webComponent()] }),
    ],
    [
      "a component that is not its manifest's",
      "GROUP_ORDER_INVALID",
      8,
      () => ({
        component_order: [
          { ...webComponent(), binary_name: "api" },
          { ...apiComponent(), binary_name: "web" },
        ],
      }),
    ],
    ["no policy", "GROUP_POLICY_REQUIRED", 9, () => ({ failure_policy: undefined })],
    ["no versions", "GROUP_VERSIONS_REQUIRED", 9, () => ({ desired_versions: {} })],
    [
      "a version without a component",
      "GROUP_ORDER_INCOMPLETE",
      9,
      () => ({ component_order: [webComponent()] }),
    ],
    [
      "a component beside the versions",
      "GROUP_ORDER_INCOMPLETE",
      9,
      () => ({ desired_versions: { web: "2.0.0", api: "9.9.9" } }),
    ],
    [
      "a component that breaks a rule of its own",
      "CHECKSUM_REQUIRED",
      1,
      () => ({ component_order: [webComponent({ target_binary_checksum: "" }), apiComponent()] }),
    ],
  ])("%s is %s, and nothing is written (ROLL-3)", async (_what, code, rule, changes) => {
    const before = await counts();
    const answer = await create(group(changes()));
    expect(answer).toMatchObject({ status: 422, code });
    expect(answer.body).toMatchObject({ error: { detail: { rule } } });
    expect(await counts()).toEqual(before);
  });

  test("a later component that finds no nodes takes the earlier ones with it", async () => {
    const before = await counts();
    const body = group({ component_order: [webComponent(), apiComponent({ source_version: "0.9.0" })] });
    expect(await create(body)).toMatchObject({ status: 422, code: "NO_ELIGIBLE_NODES" });
    expect(await counts()).toEqual(before);
  });

  test("a node in two components is refused: the second would not find it where it was", async () => {
    const twice = group({
      desired_versions: { web: "2.0.0" },
      component_order: [webComponent(), { ...webComponent(), component_index: 1 }],
    });
    const answer = await create(twice);
    expect(answer).toMatchObject({ status: 400, code: "INVALID_INPUT" });
    expect(answer.message).toContain(`web on node ${web} is in component 0 and in component 1`);
  });
});
