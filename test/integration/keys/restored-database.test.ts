/**
 * An old dump of the database is restored (SNAP-11): every node holds newer versions and refuses the old ones. A new
 * epoch, opened by the root keys, puts the site back in charge.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterId, NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { AppliedVersions } from "../../../src/core/protocol/agent-api.ts";
import type { KeyList } from "../../../src/core/protocol/keys-api.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { joinFrame } from "../../../src/trust/frame.ts";
import { stopProcess } from "../../../src/host/process-identity.ts";
import { enrollSimulated } from "../../support/keys/enroll-simulated.ts";
import { personAt, type Person } from "../../support/keys/key-site.ts";
import type { SimulatedAgent } from "../../support/keys/simulated-agent.ts";
import { openLabDatabase } from "../../support/lab/database.ts";
import { eventually } from "../../support/lab/eventually.ts";
import {
  certificatesIn,
  portOf,
  startFalseReplica,
  type Certificates,
} from "../../support/lab/false-replica.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addNode, type LabNode } from "../../support/lab/node.ts";
import { openDumps } from "../../support/lab/restore.ts";

const REAL = ["val-1", "val-2", "val-3"];
const SIMULATED = ["sim-1", "sim-2"];
const NAMES = [...REAL, ...SIMULATED];
const SCOPE = "degraded_mode_policy";

let lab: Lab;
let db: Database;
let operator: Person;
let real: { readonly node: LabNode; restartAgent(): Promise<void> }[];
let simulated: SimulatedAgent[];
let running: Promise<unknown>;
const ended = new AbortController();

beforeAll(async () => {
  lab = await startLab({ keepData: true });
  operator = personAt(lab.home);
  db = await openLabDatabase(lab);
  simulated = await enrollSimulated(lab, SIMULATED);
  running = Promise.all(simulated.map(async (agent) => agent.run(ended.signal)));
  running.catch(() => undefined); // looked at when it ends
  real = await Promise.all(REAL.map(restartable));
}, 200_000);
afterAll(async () => {
  ended.abort();
  await running;
  await db.end({ timeout: 1 });
  await lab.stop();
}, 120_000);

async function restartable(name: string) {
  const node = await addNode(lab, { name });
  let agent = await node.startAgent();
  await node.reported();
  return {
    node,
    async restartAgent() {
      await stopProcess(agent, { graceMs: 20_000 });
      agent = await node.startAgent();
    },
  };
}

/** A policy for every node: each value is a version of its own. */
async function setPolicy(minutes: number): Promise<void> {
  const body = {
    allowed: ["continue_services"],
    offline_max_ms: minutes * 60_000,
    route_ttl_ms: 0,
    session_ttl_ms: 0,
    when_partitioned: "continue",
  };
  await db`
    insert into policies (kind, name, body) values ('degraded_mode', 'site', ${db.json(body)})
    on conflict (kind, name) do update set body = excluded.body`;
}

const applied = async (name: string): Promise<AppliedVersions> => (await lab.operator.node(name)).applied;

interface Published {
  readonly epoch: number;
  readonly version: number;
  readonly text: string;
}

async function published(): Promise<Map<string, Published>> {
  const rows = await db<(Published & { name: string; bytes: Buffer })[]>`
    select n.name, s.authority_epoch as epoch, s.config_version as version, c.bytes from snapshots s
    join nodes n on n.id = s.node_id join snapshot_contents c on c.content_hash = s.content_hash
    where s.scope_type = ${SCOPE}`;
  return new Map(rows.map(({ name, bytes, ...row }) => [name, { ...row, text: bytes.toString("utf8") }]));
}

const says = (minutes: number, published: Published | undefined): boolean =>
  published?.text.includes(`"offline_max_ms":${minutes * 60_000},`) === true;

/** The policy is published for every node, and every node says that it holds that version. */
const everyNodeHolds = (minutes: number, epoch = 1) =>
  eventually(`every node holds the policy of ${minutes} minutes in epoch ${epoch}`, async () => {
    const newest = await published();
    const held = await Promise.all(NAMES.map(async (name) => (await applied(name))[SCOPE]));
    return NAMES.every((name, at) => {
      const is = newest.get(name);
      return (
        says(minutes, is) &&
        held[at]?.epoch === epoch &&
        is?.epoch === epoch &&
        held[at].version === is.version
      );
    });
  });

async function publishedFrame(name: string): Promise<Buffer> {
  const [row] = await db<{ header: Buffer; bytes: Buffer; signatures: Buffer }[]>`
    select s.header, c.bytes, s.signatures from snapshots s join nodes n on n.id = s.node_id
    join snapshot_contents c on c.content_hash = s.content_hash where n.name = ${name} and s.scope_type = ${SCOPE}`;
  return joinFrame(row!.header, row!.bytes, row!.signatures);
}

interface OldFrame {
  readonly id: NodeId;
  readonly frame: Buffer;
}

const oldFrame = async (name: string): Promise<OldFrame> => ({
  id: (await lab.operator.node(name)).id,
  frame: await publishedFrame(name),
});

/** Byte for byte what the old database holds, handed to the real agents while their server is away. */
async function handOver(
  old: readonly OldFrame[],
  clusterId: ClusterId,
  certificates: Certificates,
): Promise<void> {
  const port = await portOf(real[0]!.node);
  const replica = await startFalseReplica({ dataDir: lab.dataDir, clusterId, certificates, port });
  try {
    for (const { id, frame } of old) {
      replica.answer(id, { snapshots: [frame.toString("base64")] });
      await replica.refusal(id, "SNAPSHOT_ROLLBACK");
    }
  } finally {
    await replica.close();
  }
}

test("SNAP-11: after a restored dump every node refuses the old versions, and a new epoch brings the site back", async () => {
  await setPolicy(10);
  await everyNodeHolds(10);
  const dumps = await openDumps(lab);
  const old = await Promise.all(REAL.map(oldFrame));
  await dumps.dump("old_dump");

  // Life goes on: newer versions, and a newer trust bundle.
  for (const minutes of [20, 30, 40]) {
    await eventually("the policy is set", async () => setPolicy(minutes).then(() => true));
    await everyNodeHolds(minutes);
  }
  await eventually("a key is introduced", async () => {
    const ran = await operator.fairlead("keys", "introduce", "--authority", "online", "--json");
    return ran.code === 0;
  });
  await eventually("every node holds the newer bundle", async () => {
    const { keys, nodes } = await operator.succeeds<KeyList>("keys", "list");
    return keys.find((key) => key.state === "introduced")!.confirmed_by === nodes;
  });
  const before = new Map(
    await Promise.all(NAMES.map(async (name) => [name, (await applied(name))[SCOPE]!] as const)),
  );

  const certificates = await certificatesIn(db);
  const [cluster] = await db<{ id: ClusterId }[]>`select id from clusters`;
  await dumps.restore("old_dump");
  await dumps.close();
  await db.end({ timeout: 1 });
  await stopProcess(lab.server(), { graceMs: 20_000 });
  await handOver(old, cluster!.id, certificates);
  await lab.startServerAgain();
  db = await openLabDatabase(lab);
  expect((await published()).get("val-1")!.version).toBeLessThan(before.get("val-1")!.version);

  // The restored site publishes, and what it numbers was numbered before: nobody takes it.
  await setPolicy(50);
  await eventually("the restored server has published", async () => {
    const newest = await published();
    return NAMES.every((name) => says(50, newest.get(name)));
  });
  for (const agent of simulated) {
    expect(agent.offer(await publishedFrame(agent.name))).toBe(false);
    expect(agent.refused.at(-1)).toMatchObject({ code: "SNAPSHOT_ROLLBACK" });
    expect(agent.versionOf(SCOPE)).toEqual(before.get(agent.name));
  }
  for (const node of real) await node.restartAgent(); // says at once what it holds
  for (const name of REAL)
    await eventually(`${name} keeps what it had`, async () => {
      const held = (await applied(name))[SCOPE];
      return JSON.stringify(held) === JSON.stringify(before.get(name));
    });
  const behind = await operator.succeeds<{ bundle: { version: number } }>("keys", "list");
  expect(behind.bundle.version).toBe(1);

  await operator.succeeds("authority", "new-epoch", "--reason", "database_restored");
  await everyNodeHolds(50, 2);
  expect((await applied("val-1")).trust_bundle).toEqual({ epoch: 2, version: 3 });
  expect(await db`select epoch, reason from authority_epochs`).toMatchObject([
    { epoch: 2, reason: "database_restored" },
  ]);
  const [lowest] = await db<{ sequence: number }[]>`select min(command_sequence) as sequence from nodes`;
  expect(lowest!.sequence).toBeGreaterThanOrEqual(LIMITS.commandSequenceGap); // above every mark that a node holds

  // And goes on as any site does.
  await setPolicy(60);
  await everyNodeHolds(60, 2);
  for (const agent of simulated) expect(agent.versionOf(SCOPE)).toMatchObject({ epoch: 2 });
}, 150_000);
