// Clocks that jump under a real server, its database and real agents (SNAP-17): nothing is signed ahead, and afterwards
// every node takes commands again.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateNodeKey, requestFor } from "../../../src/agent/identity/csr.ts";
import { renewByProof } from "../../../src/agent/identity/renew-by-proof.ts";
import { readIdentity } from "../../../src/agent/identity/store.ts";
import { stopProcess, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import { startClockSite, type ClockSite } from "../../support/clocks/clock-site.ts";
import { movedTime } from "../../support/clocks/moved-time.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { addNode, type LabNode } from "../../support/lab/node.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

let site: ClockSite;
let nodes: LabNode[];
let agents: ProcessIdentity[];
let version = 1;

beforeAll(async () => {
  site = await startClockSite();
  nodes = await Promise.all(["a", "b", "c"].map(async (name) => addNode(site, { name })));
  agents = await Promise.all(nodes.map(async (node) => node.startAgent()));
  await Promise.all(nodes.map(async (node) => node.reported()));
}, 240_000);
afterAll(() => site?.stop(), 60_000);

/** Every node takes a command, and runs what it asks for. */
async function upgradeAll(): Promise<void> {
  const from = `${version}.0.0`;
  const to = site.origin.publish(`${(version += 1)}.0.0`);
  const id = await startRollout(site, { from, to });
  expect(await endingOf(site, id)).toEqual(completed(nodes));
}

const signs = () => eventually("the server signs", async () => (await site.reasons()) === "");
const stops = (why: string) =>
  eventually(`the server stops: ${why}`, async () => {
    const reasons = await site.reasons();
    return reasons.includes("CLOCK_DISAGREES") && reasons.includes(why);
  });
/** In seconds, by the true time of this process. */
async function newestSignedAhead(): Promise<number> {
  const [row] = await site.db<{ newest: Date }[]>`select max(issued_at) as newest from snapshots`;
  return Math.round((row!.newest.getTime() - Date.now()) / 1000);
}
const isIncidentOpen = async (): Promise<boolean> => {
  const open =
    await site.db`select 1 from incidents where category = 'clock_disagrees' and status <> 'resolved'`;
  return open.length === 1;
};

test("SNAP-17: a fleet whose clocks agree is upgraded", upgradeAll, 120_000);

test.each([
  ["12 hours", 12 * HOUR_S],
  ["400 days", 400 * DAY_S],
])(
  "SNAP-17: a server and its database that jump %s ahead sign nothing ahead, and every node takes commands when they are back",
  async (_how, seconds) => {
    await site.time.move(seconds);
    await stops("ahead of the monotonic clock");
    await site.operator.fairlead("model", "set", "organization", `during-${seconds}`);
    await eventually("the incident is open", isIncidentOpen);
    await site.time.move(0);
    await signs();
    expect(await newestSignedAhead()).toBeLessThan(120);
    await eventually("the incident is resolved", async () => !(await isIncidentOpen()));
    await upgradeAll();
  },
  180_000,
);

test("SNAP-17: a server that starts 12 hours ahead is stopped by its first nodes, and what it signed is signed again", async () => {
  await site.stopServer();
  await site.time.move(12 * HOUR_S);
  await site.startServerAgain();
  await stops("ahead of the clocks of most nodes");
  await site.time.move(0);
  await signs(); // the nodes vouch for the clock that was corrected
  await eventually("nothing is signed ahead", async () => (await newestSignedAhead()) < 120);
  await upgradeAll();
}, 240_000);

test("SNAP-17: a server that starts 40 days ahead with its database hears no node and signs nothing, however often it starts, until its clock is right", async () => {
  await site.stopServer();
  await site.time.move(40 * DAY_S);
  for (let start = 0; start < 2; start++) {
    await site.startServerAgain();
    await stops("40 days after the time that was last proven");
    await site.operator.fairlead("model", "set", "organization", `unproven-${start}`);
    await eventually("the incident is open", isIncidentOpen);
    if (start === 0) await site.stopServer();
  }
  expect(await newestSignedAhead()).toBeLessThan(120);
  await site.time.move(0);
  await signs(); // the nodes are heard again, and vouch for the clock that was corrected
  await upgradeAll();
}, 240_000);

test("SNAP-17: of two server processes on one database the one that is 12 hours ahead signs nothing, and the other goes on", async () => {
  const time = await movedTime(join(site.folder, "time-second"));
  await time.move(12 * HOUR_S);
  const second = await site.addReplica(time);
  await eventually("the second server stops", async () =>
    /CLOCK_DISAGREES: the wall clock is 43\d{3} s ahead of the database's clock/.test(await second.reasons()),
  );
  expect(await site.reasons()).toBe("");
  await upgradeAll();
  expect(await newestSignedAhead()).toBeLessThan(120);
  expect(await second.reasons()).toContain("CLOCK_DISAGREES");
  await time.move(0);
  const confirm = ["authority", "confirm-time", "--reason", "the second server's clock was set", "--json"];
  expect((await site.operator.fairlead(...confirm)).code).toBe(0);
  await eventually("the second server signs", async () => (await second.reasons()) === "");
  await second.stop();
}, 180_000);

test("SNAP-17: an agent that starts a year ahead takes commands when its clock is corrected", async () => {
  const time = await movedTime(join(site.folder, "time-late"));
  const node = await addNode(site, { name: "late", version: `${version}.0.0` });
  const first = await node.startAgent({ env: time.env });
  await node.reported();
  await stopProcess(first, { graceMs: 20_000 });
  await time.move(365 * DAY_S);
  agents.push(await node.startAgent({ env: time.env }));
  await eventually("the agent fails to connect", async () =>
    (await readFile(join(site.folder, "agent-late.log"), "utf8")).includes("poll failed"),
  );
  await time.move(0);
  nodes = [...nodes, node];
  await upgradeAll();
}, 180_000);

test("SNAP-17: a node whose clock starts in 1970 enrolls and takes commands", async () => {
  const time = await movedTime(join(site.folder, "time-1970"));
  await time.move(10 - Date.now() / 1000);
  const node = await addNode(site, { name: "epoch", version: `${version}.0.0` });
  agents.push(await node.startAgent({ env: time.env }));
  await node.reported();
  nodes = [...nodes, node];
  await upgradeAll();
}, 180_000);

/** Where the node's floor lies, in seconds ahead of the true time. */
async function floorAhead(node: LabNode): Promise<number> {
  const [id] = await readdir(join(node.dataDir, "nodes"));
  const file = await readFile(join(node.dataDir, "nodes", id!, "snapshots", "state.json"), "utf8");
  const { state } = JSON.parse(file) as { state: { floor: string } };
  return (Date.parse(state.floor) - Date.now()) / 1000;
}

test("SNAP-17: authority reset-time lowers the floor of every node, and they take commands in the new epoch", async () => {
  await site.time.move(50); // less than what stops signing
  await upgradeAll();
  for (const node of nodes) expect(await floorAhead(node)).toBeGreaterThan(20);
  await site.time.move(0);
  const reset = await site.operator.fairlead("authority", "reset-time", "--reason", "50 s ahead", "--json");
  expect(reset.json<{ recovery: { reason: string } }>().recovery.reason).toBe("time_reset");
  for (const node of nodes)
    await eventually(`the floor of ${node.name} is lowered`, async () => (await floorAhead(node)) < 1);
  await upgradeAll();
}, 180_000);

/** The next one of a node, by a proof. */
async function certificateFor({ dataDir }: LabNode): Promise<string> {
  const identity = (await readIdentity(dataDir))!;
  const never = { isNeeded: () => false, notBeforeMs: () => 0 };
  return renewByProof(site.enrollUrl, identity, requestFor(generateNodeKey()), never);
}

test("SNAP-17: with no node to vouch for it, a clock that jumped is confirmed by an operator whose clock shows the same", async () => {
  for (const agent of agents.splice(0)) await stopProcess(agent, { graceMs: 20_000 });
  await site.time.move(90);
  await stops("90 s ahead of the monotonic clock");
  await expect(certificateFor(nodes[0]!)).rejects.toMatchObject({ code: "CLOCK_DISAGREES" });
  const confirm = ["authority", "confirm-time", "--reason", "the host was set by hand", "--json"];
  const refused = await site.operator.fairlead(...confirm);
  expect(refused.json<{ error: { code: string } }>().error.code).toBe("CLOCK_DISAGREES");
  const time = new Date(Date.now() + 90_000).toISOString();
  const confirmed = await site.operator.fairlead(...confirm, "--time", time);
  expect(confirmed.json<{ problem: string | null }>().problem).toBeNull();
  expect(await site.reasons()).not.toContain("CLOCK_DISAGREES");
  // The clock counts again: by it the certificate is in its time, which only a connection renews.
  await expect(certificateFor(nodes[0]!)).rejects.toMatchObject({ code: "CERTIFICATE_REFUSED" });
}, 120_000);

/** Restate keeps real time, and its calls to a server of another month are refused as too old: no rollout here. */
test("SNAP-17: a fleet that was switched off for a month comes up with new certificates, and applies what is signed for it now", async () => {
  await site.stopServer();
  await site.time.move(31 * DAY_S);
  await site.startServerAgain();
  for (const node of nodes) agents.push(await node.startAgent({ env: site.time.env }));
  await eventually("every node is heard, with a certificate and an assignment of this month", async () => {
    const [row] = await site.db<{ heard: number; renewed: number; applied: number }[]>`
      select count(*) filter (where hb.received_at > now() - interval '1 minute') as heard,
        count(*) filter (where c.not_after > now()) as renewed,
        count(*) filter (where s.issued_at > now() - interval '1 day'
          and (hb.applied->'service_assignment'->>'version')::bigint = s.config_version) as applied
      from nodes n join node_heartbeats hb on hb.node_id = n.id
      join snapshots s on s.node_id = n.id and s.scope_type = 'service_assignment'
      join lateral (select max(not_after) as not_after from node_certificates where node_id = n.id) c on true`;
    return [row!.heard, row!.renewed, row!.applied].every((count) => count === nodes.length);
  });
  expect(await site.reasons()).not.toContain("CLOCK_DISAGREES");
}, 300_000);
