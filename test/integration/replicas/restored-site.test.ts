/**
 * A site is lost and brought back from its backup (USE-5): the fleet has gone on meanwhile. A new epoch puts the site
 * back in charge, and the rollout that was half-way completes.
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { KeyList } from "../../../src/core/protocol/keys-api.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { discardEmbedded } from "../../../src/server/embedded/embedded.ts";
import { personAt, type Person } from "../../support/keys/key-site.ts";
import { openLabDatabase } from "../../support/lab/database.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import { fairleadProcess } from "../../support/lab/operator.ts";
import { killHard } from "../../support/lab/processes.ts";
import { completed, endingOf, reaches, startRollout } from "../../support/lab/rollout.ts";

let lab: Lab;
let nodes: LabNode[];
let operator: Person;

beforeAll(async () => {
  lab = await startLab({ keepData: true });
  operator = personAt(lab.home);
  nodes = await addRunningNodes(lab, [{ name: "n1" }, { name: "n2" }, { name: "n3" }]);
}, 200_000);
afterAll(async () => lab?.stop(), 120_000);

const statuses = async (id: string): Promise<string[]> =>
  (await lab.operator.upgrades(id)).map(({ status }) => status).toSorted();

async function succeeds(...args: string[]): Promise<string> {
  const ran = await fairleadProcess(lab.home, ...args);
  if (ran.code !== 0) throw new Error(`fairlead ${args.join(" ")}: ${ran.err}`);
  return ran.out;
}

/** All of the site is lost and comes back as it was at the time of the backup. */
async function restore(file: string, place: readonly string[]): Promise<string> {
  await killHard(lab.server());
  await discardEmbedded(lab.dataDir, silentLogger);
  await rm(lab.dataDir, { recursive: true, force: true });
  const said = await succeeds("restore", file, ...place);
  await lab.startServerAgain();
  return said;
}

async function passphraseFile(): Promise<string> {
  const passphrase = join(lab.folder, "passphrase");
  await writeFile(passphrase, "a passphrase for tests\n", { mode: 0o600 });
  return passphrase;
}

async function openEpoch(): Promise<void> {
  await operator.succeeds("authority", "new-epoch", "--reason", "database_restored");
  await eventually("every node holds the new epoch's bundle", async () => {
    const { keys, nodes: count } = await operator.succeeds<KeyList>("keys", "list");
    return keys.filter(({ state }) => state === "active").every((key) => key.confirmed_by === count);
  });
}

/** As the control plane has it recorded. */
const recorded = (version: string): Promise<true[]> =>
  Promise.all(
    nodes.map(async (node) =>
      eventually(`${node.name} is recorded on ${version}`, async () => {
        const { profiles } = await lab.operator.node(node.name);
        return profiles[0]?.binary_version === version;
      }),
    ),
  );

test("USE-5: a site is restored from a backup that was made in the middle of a rollout, and the rollout completes", async () => {
  const to = lab.origin.publish("2.0.0");
  const file = join(lab.folder, "site.fairlead");

  // One node is done, one is at work, one still waits: now, on the running site.
  lab.origin.hold();
  const id = await startRollout(lab, { from: "1.0.0", to, batchSize: 1, healthWait: "1s" });
  await eventually("the first node is at work", () => lab.origin.waiting() === 1);
  lab.origin.release();
  lab.origin.hold();
  await eventually("the second one is at work", () => lab.origin.waiting() === 1);
  expect(await statuses(id)).toEqual(["in_progress", "pending", "succeeded"]);
  const place = ["--data-dir", lab.dataDir, "--passphrase-file", await passphraseFile()];
  await succeeds("backup", "--out", file, "--with-keys", ...place);
  expect(await succeeds("restore", "--check", file)).toContain("with key files");

  // Life goes on without the backup knowing.
  lab.origin.release();
  expect(await endingOf(lab, id)).toEqual(completed(nodes));
  const starts = await Promise.all(nodes.map(async (node) => (await node.starts()).length));

  // And ends.
  const said = await restore(file, place);
  expect(said.trimEnd().split("\n").at(-1)).toContain(
    "fairlead authority new-epoch --reason database_restored",
  );
  const paused = await reaches(lab, id, "paused");
  expect(paused.why?.code).toBe("SITE_RESTORED");
  expect((await statuses(id)).filter((status) => status === "pending")).toHaveLength(2);

  await openEpoch();
  await recorded("2.0.0");
  await succeeds("rollout", "resume", id, "--reason", "restored");
  await reaches(lab, id, "completed");
  expect(await endingOf(lab, id)).toEqual(completed(nodes));
  for (const [at, node] of nodes.entries()) {
    expect((await node.running()).version).toBe("2.0.0");
    expect((await lab.operator.node(node.name)).profiles[0]?.binary_version).toBe("2.0.0");
    const ids = await node.starts();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length - starts[at]!).toBeLessThanOrEqual(1);
  }

  // And goes on as any site does.
  const next = lab.origin.publish("3.0.0");
  const later = await startRollout(lab, { from: "2.0.0", to: next, batchSize: 3, healthWait: "0s" });
  expect(await endingOf(lab, later)).toEqual(completed(nodes));
}, 200_000);

test("ROLL-29: nodes that finish an upgrade which the restored site does not know are answered, recorded, and upgraded next", async () => {
  const file = join(lab.folder, "older.fairlead");
  const place = ["--data-dir", lab.dataDir, "--passphrase-file", await passphraseFile()];
  await succeeds("backup", "--out", file, "--with-keys", ...place);
  lab.origin.hold();
  const to = lab.origin.publish("4.0.0");
  const id = await startRollout(lab, { from: "3.0.0", to, batchSize: 3, healthWait: "0s" });
  await eventually("every node is at work", () => lab.origin.waiting() === nodes.length);
  await restore(file, place);
  const known = await fairleadProcess(lab.home, "rollout", "show", id, "--json");
  expect(known.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
  await recorded("3.0.0"); // by the first heartbeats, in the middle of the upgrade
  lab.origin.release();
  await recorded("4.0.0");
  for (const node of nodes) expect((await node.running()).version).toBe("4.0.0");
  const db = await openLabDatabase(lab);
  onTestFinished(() => db.end({ timeout: 1 }));
  const told = await db<{ kind: string; nodes: number }[]>`
    select kind, count(distinct node_id)::int as nodes from events
    where kind in ('node.report_unknown', 'node.adopted') group by kind order by kind`;
  expect(told.map(({ kind, nodes: count }) => [kind, count])).toEqual([
    ["node.adopted", nodes.length],
    ["node.report_unknown", nodes.length],
  ]);
  await openEpoch();
  const next = lab.origin.publish("5.0.0");
  const later = await startRollout(lab, { from: "4.0.0", to: next, batchSize: 3, healthWait: "0s" });
  expect(await endingOf(lab, later)).toEqual(completed(nodes));
}, 200_000);
