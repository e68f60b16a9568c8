/**
 * Key rotation under load (SNAP-8): 200 simulated agents and 3 real ones on a real site whose model keeps changing.
 * Keys rotate twice, one is revoked. No agent ever refuses what is good, and none takes what a revoked key signed.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ClusterId, SnapshotId, type NodeId } from "../../../src/core/ids.ts";
import type { KeyList, KeyView } from "../../../src/core/protocol/keys-api.ts";
import { sleep } from "../../../src/host/clock.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { signerFromPem, type Signer } from "../../../src/trust/keys.ts";
import { signSnapshot } from "../../../src/trust/snapshot.ts";
import { personAt, type Person } from "../../support/keys/key-site.ts";
import { enrollSimulated } from "../../support/keys/enroll-simulated.ts";
import type { SimulatedAgent } from "../../support/keys/simulated-agent.ts";
import { openLabDatabase } from "../../support/lab/database.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { certificatesIn, portOf, startFalseReplica } from "../../support/lab/false-replica.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import { killHard } from "../../support/lab/processes.ts";

const SIMULATED = 200;
const FORGED_VERSION = 1_000_000;

let lab: Lab;
let db: Database;
let operator: Person;
let real: LabNode[];
let agents: SimulatedAgent[];
let running: Promise<unknown>;
let load: Promise<void>;
const ended = new AbortController();
const loadEnded = new AbortController();

beforeAll(async () => {
  lab = await startLab();
  db = await openLabDatabase(lab);
  operator = personAt(lab.home);
  real = await addRunningNodes(lab, [{ name: "real-1" }, { name: "real-2" }, { name: "real-3" }]);
  const names = Array.from({ length: SIMULATED }, (_, at) => `sim-${at}`);
  agents = await enrollSimulated(lab, names);
  running = Promise.all(agents.map(async (agent) => agent.run(ended.signal)));
  running.catch(() => undefined); // looked at when it ends
  load = keepChanging();
}, 200_000);
afterAll(async () => {
  ended.abort();
  loadEnded.abort();
  await Promise.allSettled([running, load]);
  await db.end({ timeout: 1 });
  await lab.stop();
}, 120_000);

/** A policy that all of them hold changes all the time, so that versions go out while keys come and go. */
async function keepChanging(): Promise<void> {
  const id = randomUUID();
  const body = (turn: number) => ({
    allowed: ["continue_services"],
    offline_max_ms: 3_600_000 + turn,
    route_ttl_ms: 60_000,
    session_ttl_ms: 60_000,
    when_partitioned: "continue",
  });
  await db`insert into policies (id, kind, name, body) values (${id}, 'degraded_mode', 'load', ${db.json(body(0))})`;
  for (let turn = 1; !loadEnded.signal.aborted; turn += 1) {
    await db`update policies set body = ${db.json(body(turn))} where id = ${id}`;
    await sleep(2_500, loadEnded.signal);
  }
}

const keys = async (): Promise<KeyView[]> => (await operator.succeeds<KeyList>("keys", "list")).keys;
const activeKey = async (): Promise<KeyView> =>
  (await keys()).find((key) => key.authority === "online" && key.state === "active")!;

/** Again until every node has confirmed; any other refusal ends the test. */
const onceConfirmed = (...args: string[]) =>
  eventually(`fairlead ${args.slice(0, 2).join(" ")}`, async () => {
    const ran = await operator.fairlead(...args, "--json");
    if (ran.code === 0) return ran.json<{ key_id: string }>();
    const { error } = ran.json<{ error: { code: string } }>();
    if (error.code !== "KEY_NOT_CONFIRMED") return { failed: ran.out, key_id: "" };
    return undefined;
  }).then((outcome) => {
    expect(outcome).not.toHaveProperty("failed");
    return outcome;
  });

async function rotate(): Promise<{ from: string; to: string }> {
  const { key_id: from } = await activeKey();
  const { key_id: to } = await onceConfirmed("keys", "introduce", "--authority", "online");
  await onceConfirmed("keys", "promote", to);
  await onceConfirmed("keys", "retire", from);
  return { from, to };
}

const unjust = () =>
  agents.flatMap(({ name, refused }) =>
    refused.filter(({ isRevoked }) => !isRevoked).map(({ code, reason }) => `${name}: ${code} ${reason}`),
  );

/** Snapshots, heads and commands that real agents turned away, as their own logs have it. */
async function refusedByReal(): Promise<{ code: string; reason: string }[]> {
  const logs = await Promise.all(
    real.map(async ({ name }) => readFile(join(lab.folder, `agent-${name}.log`), "utf8")),
  );
  const lines = logs.flatMap((log) => log.trim().split("\n"));
  expect(lines.length).toBeGreaterThanOrEqual(real.length);
  return lines
    .map((line) => JSON.parse(line) as { msg: string; code: string; reason: string })
    .filter(({ msg }) => msg.endsWith("refused"));
}

/** As whoever stole the key would: for this very node, newer than all it has, and right but for the key. */
async function forged(thief: Signer, nodeId: NodeId): Promise<Buffer> {
  const [cluster] = await db<{ id: string; epoch: number }[]>`select id, epoch from clusters`;
  const draft = {
    snapshotId: SnapshotId.parse(randomUUID()),
    clusterId: ClusterId.parse(cluster!.id),
    subject: nodeId,
    scope: "service_assignment" as const,
    roles: ["egress_service" as const],
    version: FORGED_VERSION,
    epoch: cluster!.epoch,
    issuedAt: Date.now(),
    lifetimeMs: 3_600_000,
    content: { assignments: [] },
  };
  return signSnapshot(draft, [thief]).frame;
}

test("SNAP-8: two rotations and a revocation under load: nothing good is refused, nothing revoked is taken", async () => {
  const first = await rotate();
  const second = await rotate();
  expect(second.from).toBe(first.to);
  expect(unjust()).toEqual([]);
  expect(await refusedByReal()).toEqual([]);
  for (const agent of agents) expect(agent.takenFrom.has(second.to as never)).toBe(true);

  const stolen = second.to;
  const thief = signerFromPem(
    await readFile(join(lab.dataDir, "keys", `online-key-${stolen.slice(0, 16)}.pem`), "utf8"),
  );
  expect(thief.record.key_id).toBe(stolen);
  await operator.succeeds("keys", "revoke", stolen, "--reason", "stolen");
  const { key_id: fresh } = await activeKey();
  expect(fresh).not.toBe(stolen);
  await eventually("every simulated agent holds what the new key signed, and nothing else", () =>
    agents.every((agent) => agent.signers().every((signer) => signer === fresh)),
  );
  await eventually("every real agent has confirmed the new key", async () => {
    const { keys: listed, nodes } = await operator.succeeds<KeyList>("keys", "list");
    expect(nodes).toBe(SIMULATED + real.length);
    return listed.find((key) => key.key_id === fresh)!.confirmed_by === nodes;
  });

  for (const agent of agents) {
    const before = agent.versionOf("service_assignment");
    expect(agent.offer(await forged(thief, agent.nodeId))).toBe(false);
    expect(agent.versionOf("service_assignment")).toEqual(before);
    expect(agent.refused.at(-1)).toMatchObject({ code: "SNAPSHOT_KEY_UNTRUSTED", isRevoked: true });
  }
  expect(unjust()).toEqual([]);
  for (const { reason } of await refusedByReal()) expect(reason).toContain("revoked");
  ended.abort();
  loadEnded.abort();
  await Promise.all([running, load]);
  await offerToReal(thief);
}, 240_000);

/** Real agents answer to the control plane only: the thief puts a replica of their own in its place. */
async function offerToReal(thief: Signer): Promise<void> {
  const ids = await Promise.all(real.map(async ({ name }) => (await lab.operator.node(name)).id));
  const forgeries = await Promise.all(ids.map(async (id) => forged(thief, id)));
  const [cluster] = await db<{ id: ClusterId }[]>`select id from clusters`;
  const certificates = await certificatesIn(db);
  await killHard(lab.server());
  const port = await portOf(real[0]!);
  const replica = await startFalseReplica({
    dataDir: lab.dataDir,
    clusterId: cluster!.id,
    certificates,
    port,
  });
  try {
    for (const [at, id] of ids.entries()) {
      replica.answer(id, { snapshots: [forgeries[at]!.toString("base64")] });
      await replica.refusal(id, "SNAPSHOT_KEY_UNTRUSTED");
      expect(replica.applied(id).service_assignment?.version ?? 0).toBeLessThan(FORGED_VERSION);
    }
  } finally {
    await replica.close();
  }
}
