/** Starts that nodes made without the control plane, as heartbeats tell them, on a real database (SNAP-9). */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import type { Heartbeat, StartedAlone } from "../../../src/core/protocol/agent-api.ts";
import type { IncidentList } from "../../../src/core/protocol/incident-api.ts";
import type { NodeView } from "../../../src/core/protocol/operator-api.ts";
import { createHeartbeatStore, type StoreHeartbeat } from "../../../src/server/agents/heartbeats.ts";
import { insertNode, insertProfile } from "../../support/server/health-rows.ts";
import { administrator, type Ask } from "../../support/server/operators-client.ts";
import { startOperatorsSite, type OperatorsSite } from "../../support/server/operators-site.ts";

let here: OperatorsSite;
let boss: Ask;
let store: StoreHeartbeat;

beforeAll(async () => {
  here = await startOperatorsSite();
  boss = await administrator(here.app, here.db);
  store = createHeartbeatStore(here.db, () => undefined);
});
afterAll(() => here.stop());

const AT = "2026-01-15T12:00:00.000Z";
const EXPIRED: StartedAlone = { at: AT, expired_since: "2026-01-15T09:00:00.000Z" };

let beats = 0;
/** Each one differs in content, as one with another restart count does. */
async function beat(nodeId: NodeId, started_alone?: StartedAlone, profiles = ["web"]): Promise<void> {
  beats += 1;
  const heartbeat: Heartbeat = {
    at: new Date(Date.now() + beats).toISOString(),
    agent_version: "1.0.0",
    applied: {},
    programs: profiles.map((profile) => ({
      chain_profile_id: profile as never,
      application_health: "ok",
      sync_status: "synced",
      running_fingerprint: null,
      installed_fingerprint: null,
      version: null,
      instance_id: null,
      started_at: null,
      restarts: beats,
      ...(started_alone === undefined ? {} : { started_alone }),
    })),
    last_rejection: null,
  };
  await store({ nodeId, digest: `digest ${beats}`, clockMs: null, read: () => heartbeat });
}

/** As if the last event of a start had been written that long ago. */
const age = (nodeId: NodeId, seconds: number) => here.db`
  update node_profiles set started_alone_told_at = started_alone_told_at - make_interval(secs => ${seconds})
  where node_id = ${nodeId}`;

const events = async (nodeId: NodeId) =>
  here.db<{ data: unknown }[]>`
    select data from events where node_id = ${nodeId} and kind = 'node.started_alone' order by id`;
const incidents = async (nodeId: NodeId) =>
  ((await boss("GET", `/incidents?node_id=${nodeId}`)).body as IncidentList).incidents;

test("SNAP-9: a start on expired authority leaves one event and one incident, however often it is reported", async () => {
  const node = await insertNode(here.db, "alone-1");
  for (let n = 0; n < 3; n++) await beat(node, EXPIRED);
  expect((await events(node)).map(({ data }) => data)).toEqual([{ chain_profile_id: "web", ...EXPIRED }]);
  expect(await incidents(node)).toMatchObject([
    {
      category: "started_on_expired_authority",
      severity: "warning",
      title: `alone-1: web was started on expired authority since ${EXPIRED.expired_since}`,
    },
  ]);
  const { programs } = (await boss("GET", `/nodes/${node}`)).body as NodeView;
  expect(programs[0]?.started_alone).toEqual(EXPIRED);
});

test("SNAP-9: a start alone on valid authority leaves an event and no incident; a later one is another event", async () => {
  const node = await insertNode(here.db, "alone-2");
  await beat(node, { at: AT, expired_since: null });
  await age(node, 61);
  await beat(node, { at: "2026-01-16T12:00:00.000Z", expired_since: null });
  await beat(node);
  expect(await events(node)).toHaveLength(2);
  expect(await incidents(node)).toEqual([]);
});

test("SNAP-9: a node that reports a new start alone with every heartbeat leaves one event a minute for each program", async () => {
  const node = await insertNode(here.db, "alone-3");
  const start = (n: number): StartedAlone => ({
    at: new Date(Date.parse(AT) + n).toISOString(),
    expired_since: null,
  });
  for (let n = 0; n < 5; n++) await beat(node, start(n));
  expect(await events(node)).toHaveLength(1);
  await age(node, 61);
  for (let n = 5; n < 10; n++) await beat(node, start(n));
  expect((await events(node)).map(({ data }) => (data as StartedAlone).at)).toEqual([
    start(0).at,
    start(5).at,
  ]);
});

test("SNAP-9: a start on expired authority within a minute of another start opens its incident", async () => {
  const node = await insertNode(here.db, "alone-4");
  await beat(node, { at: "2026-01-15T11:59:30.000Z", expired_since: null });
  await beat(node, EXPIRED);
  expect(await incidents(node)).toHaveLength(1);
});

test("SNAP-9: a start alone of a program that the node does not have leaves neither event nor incident", async () => {
  const node = await insertNode(here.db, "alone-5");
  await beat(node, EXPIRED, ["of-another-node"]);
  expect(await events(node)).toEqual([]);
  expect(await incidents(node)).toEqual([]);
});

test("SNAP-9: two programs of a node started on expired authority open an incident each", async () => {
  const node = await insertNode(here.db, "alone-6");
  await insertProfile(here.db, node, "db");
  await beat(node, EXPIRED, ["web", "db"]);
  const titles = (await incidents(node)).map(({ title }) => title);
  expect(titles).toHaveLength(2);
  expect(titles).toContain(`alone-6: db was started on expired authority since ${EXPIRED.expired_since}`);
  expect(titles).toContain(`alone-6: web was started on expired authority since ${EXPIRED.expired_since}`);
});
