/**
 * A night of upgrades on ten real systemd hosts: the canary of a breaking migration, its approval, a host that crashes
 * again and again and cannot go back either, and a group that takes itself back. Whoever is told of it hears it.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXIT } from "../../../src/core/error-codes.ts";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import type { IncidentView } from "../../../src/core/protocol/incident-api.ts";
import type { Host } from "../../support/hosts/host.ts";
import { type NetworkedHosts, startNetworkedHosts } from "../../support/hosts/hosts.ts";
import { addHostNode, type HostNode } from "../../support/hosts/node.ts";
import { CURSE, STATE, statefulProgram } from "../../support/hosts/stateful-program.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { type Lab, startLab } from "../../support/lab/lab.ts";
import { writeManifest } from "../../support/lab/manifest.ts";
import { NODE_TYPE } from "../../support/lab/agent-of-node.ts";
import { reaches, runCreate } from "../../support/lab/rollout.ts";
import { natsServer, type NatsServer } from "../../support/programs/nats-server.ts";
import { startReceiver, type Receiver } from "../../support/programs/webhook-receiver.ts";

const PROFILES = { validator: 6, front: 2, back: 2 } as const;
const PLAN = "restore the state from the nightly copy, then provision the host anew";
const RECEIVER_PORT = 8081;

let hosts: NetworkedHosts;
let lab: Lab;
let nats: NatsServer;
let client: NatsConnection;
let receiver: Receiver;
let secret: string;
let validators: HostNode[];
let fronts: HostNode[];
let backs: HostNode[];
const subjects: string[] = [];

beforeAll(async () => {
  hosts = await startNetworkedHosts({ count: 10 });
  nats = await natsServer([], hosts.network);
  await nats.start();
  client = await connect({ servers: nats.outsideUrl });
  client.subscribe("events.>", { callback: (_error, message) => void subjects.push(message.subject) });
  await client.flush();
  const moreFlags = ["--nats-url", nats.url, "--webhook-allow-private"];
  lab = await startLab({ network: hosts.network, moreFlags });
  const socket = join(lab.folder, "receiver.sock");
  const url = `http://${hosts.network.address}:${RECEIVER_PORT}/hook`;
  receiver = await startReceiver({ socket, url });
  await hosts.network.offer(RECEIVER_PORT, socket);
  const file = join(lab.folder, "hook.secret");
  await said("webhook", "add", "pager", "--url", url, "--out", file);
  secret = (await readFile(file, "utf8")).trim();
  [validators, fronts, backs] = await populate(hosts.all);
}, 300_000);
afterAll(async () => {
  await client?.close();
  await receiver?.close();
  await lab?.stop();
  await nats?.stop();
  await hosts?.stop();
}, 120_000);

async function populate(all: readonly Host[]): Promise<[HostNode[], HostNode[], HostNode[]]> {
  const left = [...all];
  const made = Object.entries(PROFILES).map(async ([profile, count]) => {
    const nodes: HostNode[] = [];
    for (const [at, host] of left.splice(0, count).entries()) {
      const node = await addHostNode(lab, host, { name: `${profile}-${at + 1}`, profile });
      await writeFile(node.installPath, statefulProgram("1.0.0", 1));
      await node.startAgent();
      nodes.push(node);
    }
    for (const node of nodes) await node.reported();
    return nodes;
  });
  return (await Promise.all(made)) as [HostNode[], HostNode[], HostNode[]];
}

/** As an operator types it; must succeed. */
async function said<T>(...args: string[]): Promise<T> {
  const ran = await lab.operator.fairlead(...args, "--json");
  if (ran.code !== 0)
    throw new Error(`fairlead ${args.join(" ")} left with ${ran.code}: ${ran.out} ${ran.err}`);
  return ran.json<T>();
}

/** Only what verifies counts. */
const told = () =>
  receiver.received.map(
    ({ body, headers }) =>
      new Webhook(secret).verify(body, headers) as { type: string; data: Record<string, { id: string }> },
  );

const isTold = (type: string, rolloutId: string): Promise<true> =>
  eventually(`the webhook tells ${type}`, () =>
    told().some((message) => message.type === type && message.data["rollout"]?.id === rolloutId),
  );

const isHeard = (subject: string): Promise<true> =>
  eventually(`NATS carries ${subject}`, () => subjects.includes(subject));

const versions = (nodes: readonly HostNode[]): Promise<string[]> =>
  Promise.all(nodes.map(async (node) => (await node.running()).version));

describe("ten systemd hosts", () => {
  let id: string;
  let cursed: HostNode;

  test("ROLL-12: the canary of a breaking migration is one host, and the rest waits for an approval", async () => {
    const bytes = lab.origin.publish("2.0.0", { program: statefulProgram("2.0.0", 2) });
    const manifest = await writeManifest(lab, {
      id: "state-2",
      profile: "validator",
      to: bytes,
      stateCompatibility: { migration_type: "breaking", recovery_plan: PLAN },
      more: { runtime: "systemd" },
    });
    id = await runCreate(
      lab,
      [
        ["rollout", "create", "--manifest", manifest, "--type", NODE_TYPE, "--source-version", "1.0.0"],
        ["--strategy", "canary", "--canary-size", "1", "--batch-size", "5", "--health-wait", "8s"],
        ["--acknowledge-state-risk", "--start"],
      ].flat(),
    );
    const waited = await lab.operator.fairlead("rollout", "wait", id, "--for=paused", "--timeout", "120s");
    expect(waited.code).toBe(EXIT.paused);
    expect(await lab.operator.rollout(id)).toMatchObject({
      why: { code: "CANARY_APPROVAL" },
      counters: { succeeded: 1, pending: 5 },
      rollback_tier: 3,
    });
    await isTold("rollout_started", id);
    await isTold("rollout_paused", id);
    await isHeard(`events.rollout.${id}.started`);
  }, 200_000);

  test("ROLL-12: approved by the CLI it goes on, and a host that crash-loops pauses it at the threshold", async () => {
    const waiting = (await lab.operator.upgrades(id)).filter(({ status }) => status === "pending");
    cursed = validators.find(({ name }) => name === waiting[0]!.node_name)!;
    await writeFile(join(cursed.host.root, CURSE), "");
    await said("rollout", "approve-canary", id, "--reason", "the canary reads its new state");
    const paused = await reaches(lab, id, "paused", "completed", "failed");
    expect(paused).toMatchObject({
      status: "paused",
      why: { code: "THRESHOLD_EXCEEDED" },
      counters: { succeeded: 5, failed_rollback: 1 },
    });
    expect(paused.canary_approved_by).toMatch(/./);
    for (const node of validators.filter((each) => each !== cursed))
      expect((await node.running()).version).toBe("2.0.0");
    for (const { node_id } of await lab.operator.upgrades(id))
      await isHeard(`events.node.${node_id}.upgrade_started`);
  }, 200_000);

  test("ROLL-16 ROLL-19: the host that cannot go back is degraded, with a critical incident and its recovery plan", async () => {
    expect(await readFile(join(cursed.host.root, STATE), "utf8")).toBe("2"); // the old version cannot read it
    expect(await cursed.installed()).not.toBe(await validators.find((each) => each !== cursed)!.installed());
    expect((await lab.operator.node(cursed.name)).state).toBe("degraded");
    const { incidents } = await said<{ incidents: IncidentView[] }>("incident", "list");
    expect(incidents).toMatchObject([
      {
        category: "upgrade_failed",
        severity: "critical",
        status: "open",
        node_name: cursed.name,
        rollout_id: id,
        recovery_plan: PLAN,
      },
    ]);
    await eventually("the webhook tells of it", () => told().some(({ type }) => type === "incident_opened"));
    await said("incident", "acknowledge", incidents[0]!.id, "--note", "on my way");
    const { status } = await said<IncidentView>(
      "incident",
      "resolve",
      incidents[0]!.id,
      "--note",
      "reinstalled",
    );
    expect(status).toBe("resolved");
    await eventually("and of its end", () => told().some(({ type }) => type === "incident_resolved"));
  }, 100_000);

  test("ROLL-12: resumed over its threshold, the rollout ends failed, and what succeeded stays", async () => {
    await said("rollout", "resume", id, "--reason", "seen");
    await reaches(lab, id, "failed");
    await isTold("rollout_failed", id);
  }, 100_000);

  test("ROLL-13 ROLL-14: a rollback_all group whose second component fails takes both back, in reverse order", async () => {
    const file = join(lab.folder, "night.json");
    const part = (profile: string, program: string) => {
      const bytes = lab.origin.publish("2.0.0", { as: `${profile}-2.0.0`, program });
      return {
        chain_profile_id: profile,
        node_type: NODE_TYPE,
        source_version: "1.0.0",
        health_wait_seconds: 0,
        runtime: "systemd",
        binary_name: profile,
        target_version: "2.0.0",
        target_binary_url: bytes.url,
        target_binary_checksum: bytes.checksum,
      };
    };
    const group = {
      chain_profile_id: "front",
      failure_policy: "rollback_all",
      desired_versions: { front: "2.0.0", back: "2.0.0" },
      health_wait_seconds: 0.5,
      components: [part("front", statefulProgram("2.0.0", 1)), part("back", "#!/bin/sh\nexit 7\n")],
    };
    await writeFile(file, JSON.stringify(group));
    const { id: groupId } = await said<GroupView>("group", "create", "--file", file, "--start");
    const ended = await eventually("the group is back", async () => {
      const seen = await lab.operator.group(groupId);
      return ["rolled_back", "failed", "partial", "completed"].includes(seen.status) && seen;
    });
    expect(ended.status).toBe("rolled_back");
    expect(ended.components.map(({ rollout }) => rollout.status)).toEqual(["rolled_back", "rolled_back"]);
    expect(await versions([...fronts, ...backs])).toEqual(["1.0.0", "1.0.0", "1.0.0", "1.0.0"]);
    const [front, back] = ended.components.map(({ rollout }) => rollout);
    expect(Date.parse(back!.ended_at!)).toBeLessThanOrEqual(Date.parse(front!.ended_at!));
    for (const type of ["rollback_initiated", "rollback_completed"]) await isTold(type, front!.id);
    const nodes = await lab.operator.upgrades(front!.id);
    for (const { node_id } of nodes) await isHeard(`events.node.${node_id}.upgrade_completed`);
  }, 200_000);
});
