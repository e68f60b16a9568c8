// Guards that only the database can give: each row that would break one is refused, also against a writer at the same time.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import type { Queryable } from "../../../src/server/db/database.ts";
import { manualRequest, startCreationSite, type CreationSite } from "../../support/server/creation-site.ts";

let site: CreationSite;
let node: NodeId;
/** A rollout as the API writes it; the rows of these tests are copies of it. */
let model: string;

beforeAll(async () => {
  site = await startCreationSite();
  node = await site.addNode("n0");
  const answer = await site.ask("POST", "/rollouts", manualRequest());
  expect(answer).toMatchObject({ status: 201 });
  model = (answer.body as { id: string }).id;
});
afterAll(() => site.stop());
beforeEach(async () => {
  await site.db`update rollouts set status = 'cancelled'`;
  await site.db`update rollout_groups set status = 'cancelled'`;
});

async function addRollout(changes: object = {}, sql: Queryable = site.db): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into rollouts select (jsonb_populate_record(r, ${site.db.json({ id, ...changes })})).*
    from rollouts r where r.id = ${model}`;
  return id;
}

async function addGroup(changes: { status: string; profile: string }): Promise<string> {
  const id = randomUUID();
  await site.db`
    insert into rollout_groups
      (id, chain_profile_id, failure_policy, component_order, desired_versions, strategy, status)
    values (${id}, ${changes.profile}, 'manual', '[]', '{}', 'rolling', ${changes.status})`;
  return id;
}

const unique = (constraint: string) => ({ code: "23505", constraint_name: constraint });
const claimed = unique("one_active_per_profile");

describe("a profile has one owner (ROLL-2)", () => {
  test.each(["pending", "running", "paused", "rolling_back"])(
    "ROLL-2: while a rollout is %s the database refuses a second one of its profile",
    async (status) => {
      const first = await addRollout({ status });
      await expect(addRollout({ status: "pending" })).rejects.toMatchObject(claimed);
      await site.db`update rollouts set status = 'completed' where id = ${first}`;
      await addRollout({ status: "pending" });
    },
  );

  test("ROLL-2: a rollout that moves to rolling_back is refused while another one holds its profile", async () => {
    const ended = await addRollout({ status: "completed" });
    await addRollout({ status: "running" });
    const back = site.db`update rollouts set status = 'rolling_back' where id = ${ended}`;
    await expect(back).rejects.toMatchObject(claimed);
  });

  test("ROLL-2: a component that ended keeps its group's profiles until the group has ended", async () => {
    const group = await addGroup({ status: "running", profile: "suite" });
    const component = await addRollout({ status: "running", group_id: group, component_index: 0 });
    await site.db`update rollouts set status = 'completed' where id = ${component}`;
    await expect(addRollout({ status: "pending" })).rejects.toMatchObject(claimed);
    await expect(addRollout({ status: "pending", chain_profile_id: "suite" })).rejects.toMatchObject(claimed);
    await site.db`update rollout_groups set status = 'completed' where id = ${group}`;
    await addRollout({ status: "pending" });
    await addRollout({ status: "pending", chain_profile_id: "suite" });
  });

  test("ROLL-2: a second rollout that is inserted before the first commits waits for it, and is refused", async () => {
    const [first, second] = [await site.db.reserve(), await site.db.reserve()]; // both connections are open
    try {
      const [{ pid }] = await second<[{ pid: number }]>`select pg_backend_pid() as pid`;
      await first`begin`;
      await addRollout({ status: "pending" }, first);
      const refused = expect(addRollout({ status: "pending" }, second)).rejects.toMatchObject(claimed);
      await expect
        .poll(() => site.db`select wait_event_type from pg_stat_activity where pid = ${pid}`)
        .toEqual([{ wait_event_type: "Lock" }]);
      await first`commit`;
      await refused;
    } finally {
      first.release();
      second.release();
    }
  });
});

describe("rows that stand once", () => {
  const twice = async (add: (other: boolean) => Promise<unknown>, constraint: string): Promise<void> => {
    await add(false);
    await expect(add(false)).rejects.toMatchObject(unique(constraint));
    await add(true);
  };

  test("ROLL-11: a rollout signal is stored once under its idempotency key", async () => {
    const key = randomUUID();
    await twice(
      (other) => site.db`
        insert into rollout_signals (rollout_id, kind, actor, idempotency_key)
        values (${model}, 'pause', 'a', ${other ? randomUUID() : key})`,
      "rollout_signals_idempotency_key_key",
    );
  });

  test("ROLL-11: a group signal is stored once under its idempotency key", async () => {
    const [group, key] = [await addGroup({ status: "cancelled", profile: "suite" }), randomUUID()];
    await twice(
      (other) => site.db`
        insert into group_signals (group_id, kind, actor, idempotency_key)
        values (${group}, 'pause', 'a', ${other ? randomUUID() : key})`,
      "group_signals_idempotency_key_key",
    );
  });

  test("ROLL-7: a report is stored once under its id", async () => {
    const id = randomUUID();
    await twice(
      (other) => site.db`
        insert into upgrade_reports (report_id, rollout_id, node_id, command_id, body)
        values (${other ? randomUUID() : id}, ${model}, ${node}, ${randomUUID()}, '{}')`,
      "upgrade_reports_report_id_key",
    );
  });

  test("SNAP-16: a node has one command of each sequence", async () => {
    await twice(
      (other) => site.db`
        insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
        values (${randomUUID()}, ${node}, ${model}, ${other ? 8 : 7}, '', now())`,
      "commands_node_id_sequence_key",
    );
  });

  test("ROLL-2: a node takes part in a rollout once", async () => {
    const other = await addRollout({ status: "cancelled" });
    const add = (rollout: string) =>
      site.db`insert into rollout_nodes (rollout_id, node_id, batch_index) values (${rollout}, ${node}, 0)`;
    await add(other);
    await expect(add(other)).rejects.toMatchObject(unique("rollout_nodes_rollout_id_node_id_key"));
  });

  test("ROLL-13: a group has one component at each place", async () => {
    const group = await addGroup({ status: "cancelled", profile: "suite" });
    await twice(
      (other) => addRollout({ status: "cancelled", group_id: group, component_index: other ? 1 : 0 }),
      "rollouts_component",
    );
  });

  test("SNAP-8: one online key is active", async () => {
    const add = (state: string) => site.db`
      insert into signing_keys (key_id, authority, name, algorithm, public_key, state, changed_by)
      values (${randomUUID()}, 'online', 'k', 'EdDSA', 'x', ${state}, 'a')`;
    await site.db`update signing_keys set state = 'retiring' where authority = 'online' and state = 'active'`;
    await add("active");
    await expect(add("active")).rejects.toMatchObject(unique("one_active_online_key"));
    await add("introduced");
  });

  test("ROLL-16: one trouble has one open incident, also without a node and a rollout", async () => {
    const add = (subject: string) => site.db`
      insert into incidents (id, category, severity, title, subject)
      values (${randomUUID()}, 'x', 'critical', 't', ${subject})`;
    await add("disk");
    await expect(add("disk")).rejects.toMatchObject(unique("one_open_incident"));
    await add("clock");
    await site.db`update incidents set status = 'resolved' where subject = 'disk'`;
    await add("disk");
  });

  test("SNAP-20: a name belongs to one node that is not revoked, and a revoked node has one successor", async () => {
    const add = (name: string, replaces: string | null) => site.db`
      insert into nodes (id, name, node_type, roles, labels, state, replaces)
      values (${randomUUID()}, ${name}, 'edge', '{egress_service}', '{}', 'active', ${replaces})`;
    await add("n1", node);
    await expect(add("n1", null)).rejects.toMatchObject(unique("one_present_node_per_name"));
    await expect(add("n2", node)).rejects.toMatchObject(unique("one_successor_per_node"));
    await add("n2", null);
  });
});
