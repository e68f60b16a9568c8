/** Two programs on each of three systemd hosts (ROLL-28): a group over both, and rollouts of each at the same time. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import { type NetworkedHosts, startNetworkedHosts } from "../../support/hosts/hosts.ts";
import { addHostNode, type HostNode } from "../../support/hosts/node.ts";
import { addSecondProgram, type SecondProgramOf } from "../../support/hosts/second-program.ts";
import { NODE_TYPE } from "../../support/lab/agent-of-node.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { type Lab, startLab } from "../../support/lab/lab.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

const [EXECUTION, CONSENSUS] = ["execution", "consensus"] as const;
const BROKEN = "#!/bin/sh\nexit 7\n";

let hosts: NetworkedHosts;
let lab: Lab;
let nodes: HostNode[];
let beside: SecondProgramOf[];

beforeAll(async () => {
  hosts = await startNetworkedHosts({ count: 3 });
  lab = await startLab({ network: hosts.network });
  nodes = [];
  beside = [];
  for (const [index, host] of hosts.all.entries()) {
    const node = await addHostNode(lab, host, { name: `host-${index + 1}`, profile: EXECUTION });
    nodes.push(node);
    beside.push(await addSecondProgram(lab, node, { profile: CONSENSUS, port: 8001 }));
  }
  for (const node of nodes) await node.startAgent();
  await Promise.all([...nodes, ...beside].map(async (each) => each.reported()));
}, 300_000);
afterAll(async () => {
  await lab?.stop();
  await hosts?.stop();
}, 120_000);

/** Of both programs on every host: `[execution, consensus]`. */
const versions = async (): Promise<string[][]> =>
  Promise.all(
    nodes.map(async (node, at) => [(await node.running()).version, (await beside[at]!.running()).version]),
  );
const everywhere = (...pair: [string, string]): string[][] => nodes.map(() => pair);

function component(profile: string, from: string, to: string, program?: string): object {
  const bytes = lab.origin.publish(to, { as: `${profile}-${to}`, ...(program && { program }) });
  return {
    chain_profile_id: profile,
    node_type: NODE_TYPE,
    source_version: from,
    health_wait_seconds: 0,
    batch_size: 3,
    binary_name: profile,
    target_version: to,
    target_binary_url: bytes.url,
    target_binary_checksum: bytes.checksum,
  };
}

async function startGroup(version: string, components: object[]): Promise<string> {
  const file = join(lab.folder, "group.json"); // JSON is YAML
  const group = {
    chain_profile_id: EXECUTION,
    failure_policy: "rollback_all",
    desired_versions: { [EXECUTION]: version, [CONSENSUS]: version },
    health_wait_seconds: 0.2,
    components,
  };
  await writeFile(file, JSON.stringify(group));
  const created = await lab.operator.fairlead("group", "create", "--file", file, "--json");
  if (created.code !== 0) throw new Error(`group create left with ${created.code}: ${created.out}`);
  const { id } = created.json<GroupView>();
  expect((await lab.operator.ask(`rollout-groups/${id}/start`)).status).toBe(202);
  return id;
}

const reaches = (id: string, status: GroupView["status"]): Promise<GroupView> =>
  eventually(`group ${id} is ${status}`, async () => {
    const group = await lab.operator.group(id);
    return group.status === status && group;
  });

/** When each component's nodes were launched first, and ended last. */
const spans = async ({ components }: GroupView): Promise<{ from: number; until: number }[]> =>
  Promise.all(
    components.map(async ({ rollout }) => {
      const upgrades = await lab.operator.upgrades(rollout.id);
      expect(upgrades).toHaveLength(nodes.length);
      return {
        from: Math.min(...upgrades.map(({ started_at }) => Date.parse(started_at!))),
        until: Math.max(...upgrades.map(({ ended_at }) => Date.parse(ended_at!))),
      };
    }),
  );

const statuses = ({ components }: GroupView): string[] => components.map(({ rollout }) => rollout.status);

/** No program was started twice as the same instance. */
async function startedOnceEach(): Promise<void> {
  for (const each of [...nodes, ...beside]) {
    const ids = await each.starts();
    expect(new Set(ids).size).toBe(ids.length);
  }
}

describe("a group of two components on the same three hosts", () => {
  let group: string;

  it("ROLL-28: a group over two programs of the same hosts goes forward component by component", async () => {
    group = await startGroup("2.0.0", [
      component(EXECUTION, "1.0.0", "2.0.0"),
      component(CONSENSUS, "1.0.0", "2.0.0"),
    ]);
    const ended = await reaches(group, "completed");
    expect(await versions()).toEqual(everywhere("2.0.0", "2.0.0"));
    const [execution, consensus] = await spans(ended);
    expect(consensus!.from).toBeGreaterThanOrEqual(execution!.until);
    for (const { name } of nodes)
      expect((await lab.operator.node(name)).profiles).toEqual([
        { chain_profile_id: CONSENSUS, state: "active", binary_version: "2.0.0" },
        { chain_profile_id: EXECUTION, state: "active", binary_version: "2.0.0" },
      ]);
    await startedOnceEach();
  }, 300_000);

  it("ROLL-28: a completed group over two programs of the same hosts goes back in reverse component order", async () => {
    expect((await lab.operator.ask(`rollout-groups/${group}/rollback`)).status).toBe(202);
    const ended = await reaches(group, "rolled_back");
    expect(await versions()).toEqual(everywhere("1.0.0", "1.0.0"));
    const [execution, consensus] = await spans(ended);
    expect(execution!.from).toBeGreaterThanOrEqual(consensus!.until);
    await startedOnceEach();
  }, 300_000);

  it("ROLL-28: a rollback_all group whose second program does not start takes the first back on every host", async () => {
    const id = await startGroup("3.0.0", [
      component(EXECUTION, "1.0.0", "3.0.0"),
      component(CONSENSUS, "1.0.0", "3.0.0", BROKEN),
    ]);
    const ended = await reaches(id, "rolled_back");
    expect(statuses(ended)).toEqual(["rolled_back", "rolled_back"]);
    expect(await versions()).toEqual(everywhere("1.0.0", "1.0.0"));
    const [execution, consensus] = await spans(ended);
    expect(execution!.from).toBeGreaterThanOrEqual(consensus!.until);
    await startedOnceEach();
  }, 300_000);
});

describe("rollouts of both programs at the same time", () => {
  it("ROLL-28: a rollout of a second program waits on each host for the first, over the agent's death, and says so", async () => {
    lab.origin.hold();
    const published = (profile: string) => lab.origin.publish("5.0.0", { as: `${profile}-5.0.0` });
    const first = await startRollout(lab, { profile: EXECUTION, from: "1.0.0", to: published(EXECUTION) });
    await eventually("every host fetches", async () => lab.origin.waiting() === nodes.length);
    const second = await startRollout(lab, { profile: CONSENSUS, from: "1.0.0", to: published(CONSENSUS) });
    const waits = () =>
      eventually("every host waits for its first program", async () => {
        const upgrades = await lab.operator.upgrades(second);
        return upgrades.every(({ waiting_for }) => waiting_for === EXECUTION);
      });
    await waits();
    const shown = await lab.operator.fairlead("rollout", "show", second);
    expect(shown.out).toContain(`waiting for ${EXECUTION} on ${nodes[0]!.name}, and on 2 more`);
    expect((await lab.operator.node(nodes[0]!.name)).profiles.map(({ state }) => state)).toEqual([
      "maintenance",
      "maintenance",
    ]);

    await nodes[0]!.killAgent(); // both jobs are in its ledger
    await eventually("its next agent fetches again", async () => lab.origin.waiting() === nodes.length + 1);
    lab.origin.release();
    expect(await endingOf(lab, first)).toEqual(completed(nodes));
    expect(await endingOf(lab, second)).toEqual(completed(nodes));
    expect(await versions()).toEqual(everywhere("5.0.0", "5.0.0"));
    expect((await lab.operator.upgrades(second)).every(({ waiting_for }) => waiting_for === null)).toBe(true);
    await startedOnceEach();
  }, 300_000);
});
