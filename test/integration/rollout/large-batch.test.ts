// A batch that is larger than what one step launches, on real rows.

import { afterAll, beforeAll, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { RolloutId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const PROFILE = "large-batch";
const NODES = LIMITS.launchesPerStep + 3;

let here: DrivenSite;
let id: RolloutId;

beforeAll(async () => {
  here = await startDrivenSite();
  const model = await here.addNode("model", { profile: PROFILE });
  await here.db`
    insert into nodes (id, name, node_type, roles, enrolled_at)
    select gen_random_uuid(), 'large-' || n, m.node_type, m.roles, m.enrolled_at
    from nodes m, generate_series(2, ${NODES}::int) as n where m.id = ${model}`;
  await here.db`
    insert into node_profiles (node_id, chain_profile_id)
    select id, ${PROFILE} from nodes where name like 'large-%'`;
  await here.db`
    insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
    select p.node_id, p.chain_profile_id, s.binary_version, s.fingerprint
    from node_profiles p, node_config_state s
    where p.chain_profile_id = ${PROFILE} and p.node_id <> ${model} and s.node_id = ${model}`;
  const request = manualRequest({
    chain_profile_id: PROFILE,
    strategy: "all_at_once",
    health_wait_seconds: 0,
  });
  const { status, body } = await here.ask("POST", "/rollouts", request);
  expect([status, body]).toMatchObject([201, { counters: { total: NODES } }]);
  id = (body as RolloutView).id;
  await here.ask("POST", `/rollouts/${id}/start`, {});
});
afterAll(() => here.stop());

const atWork = async () => (await here.statusesOf(id)).filter((status) => status === "in_progress").length;

test("ROLL-12: each step launches so many nodes at most and asks for the next at once", async () => {
  const first = await here.step(id);
  expect(await atWork()).toBe(LIMITS.launchesPerStep);
  expect(first!.wakeAt).toBe(first!.now + 1);
  const second = await here.step(id);
  expect(await atWork()).toBe(NODES);
  expect(second!.wakeAt).toBeGreaterThan(second!.now + 60_000);
  const commands = await here.db`select node_id from commands where rollout_id = ${id}`;
  expect(new Set(commands.map(({ node_id }) => node_id as string)).size).toBe(NODES);
  expect(commands).toHaveLength(NODES);
});

test("ROLL-15: all of them are observed together, and the rollout completes", async () => {
  await here.report(id);
  const { body } = await here.ask("GET", `/rollouts/${id}`);
  expect(body).toMatchObject({ status: "completed", counters: { succeeded: NODES } });
});
