/**
 * Machines that reboot after their authority has expired, by a clock that is moved under a real server, its database and
 * real agents (SNAP-9, SNAP-10): the bytes that last ran start again, and what was revoked or forbidden does not.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { run } from "../../../src/host/process.ts";
import { readHead, type VerifiedHead } from "../../../src/trust/head.ts";
import { startClockSite, type ClockSite } from "../../support/clocks/clock-site.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { addNode, type LabNode } from "../../support/lab/node.ts";
import { killHard, processesAround } from "../../support/lab/processes.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

const HOUR_MS = 3_600_000;
/** Beyond the day of an assignment. */
const AWAY_MS = 72 * HOUR_MS;
const NEVER = {
  kind: "degraded_mode",
  organization: "strict",
  body: {
    allowed: ["continue_services", "report_status"],
    offline_max_ms: 4 * HOUR_MS,
    route_ttl_ms: HOUR_MS,
    session_ttl_ms: HOUR_MS,
    when_partitioned: "continue",
    restart_after_expiry: "never",
  },
};

let site: ClockSite;
let plain: LabNode;
let revoked: LabNode;
let forbidden: LabNode;
let nodes: LabNode[];

async function done(...words: string[]): Promise<string> {
  const { code, out, err } = await site.operator.fairlead(...words);
  if (code !== 0) throw new Error(`${words.join(" ")}: ${err}`);
  return out;
}

const snapshotsOf = async ({ dataDir }: LabNode): Promise<string> => {
  const [id] = await readdir(join(dataDir, "nodes"));
  return join(dataDir, "nodes", id!, "snapshots");
};
async function headOf(node: LabNode): Promise<VerifiedHead | null> {
  const file = await readFile(join(await snapshotsOf(node), "state.json"), "utf8");
  const { head } = (JSON.parse(file) as { state: { head: string | null } }).state;
  return readHead(Buffer.from(head ?? "", "base64"));
}

beforeAll(async () => {
  site = await startClockSite();
  nodes = [];
  for (const name of ["plain", "revoked", "forbidden"]) nodes.push(await addNode(site, { name }));
  [plain, revoked, forbidden] = nodes as [LabNode, LabNode, LabNode];
  for (const node of nodes) await node.startAgent({ env: site.time.env });
  for (const node of nodes) await node.reported();
  const id = await startRollout(site, { from: "1.0.0", to: site.origin.publish("2.0.0") });
  expect(await endingOf(site, id)).toEqual(completed(nodes));

  await done("model", "set", "organization", "strict");
  await done("node", "set", "forbidden", "--organizations", "strict");
  await done("model", "set", "policy", "strict", "--json-body", JSON.stringify(NEVER));
  await done("revocation", "add", "artifact", id, "--node", "revoked", "--reason", "it corrupts");
  await eventually("the node knows of the revocation", async () => {
    const head = await headOf(revoked);
    return head?.content.revoked.some(({ kind }) => kind === "artifact");
  });
  await eventually("the node holds the policy", async () =>
    /degraded_mode_policy: in force[^\n]*\n {2}may start again what it last ran, for 4 /.test(
      await done("snapshot", "explain", "forbidden"),
    ),
  );
}, 300_000);
afterAll(() => site?.stop(), 60_000);

/** Every process of the machines ends at once. */
async function powerCut(): Promise<void> {
  for (const { identity } of await processesAround(nodes.map(({ folder }) => folder)))
    await killHard(identity);
}

async function damageBundle(node: LabNode): Promise<void> {
  const frames = join(await snapshotsOf(node), "frames");
  for (const name of (await readdir(frames)).filter((each) => each.startsWith("trust_bundle."))) {
    const bytes = await readFile(join(frames, name));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(frames, name), bytes);
  }
}

async function statusOf(node: LabNode): Promise<string> {
  const args = [FAIRLEAD, "agent", "--config", node.configPath, "--status"];
  const env = { ...commandEnv(site.home), ...site.time.env };
  const status = await run(NODE, args, { env, timeoutMs: 60_000 });
  return status.kind === "exited" ? status.stdout.toString() : "";
}

const logged = (node: LabNode, words: string) =>
  eventually(`${node.name} logs ${words}`, async () =>
    (await readFile(join(site.folder, `agent-${node.name}.log`), "utf8")).includes(words),
  );

test("SNAP-9: machines that reboot on expired authority without their control plane start what last ran, unless it is revoked or forbidden, and tell it on return", async () => {
  const before = await Promise.all(nodes.map(async (node) => node.starts()));
  const outageAt = Date.now();
  await killHard(site.server());
  await powerCut();
  await damageBundle(revoked);
  await site.time.move(AWAY_MS / 1000);
  for (const node of nodes) await node.startAgent({ env: site.time.env });

  expect((await plain.running()).version).toBe("2.0.0");
  const words = await eventually("the status of plain tells it", async () =>
    /on its own\n {2}hello .*started on expired authority since (\S+)/.exec(await statusOf(plain)),
  );
  const since = Date.parse(words[1]!) - outageAt;
  expect([since > 0, since <= 24 * HOUR_MS]).toEqual([true, true]);

  await logged(revoked, "AUTHORITY_REVOKED");
  await logged(forbidden, "DEGRADED_TIME_OVER");
  expect(await statusOf(forbidden)).toMatch(/continue_services +closed +DEGRADED_TIME_OVER/);
  expect([await revoked.starts(), await forbidden.starts()]).toEqual([before[1], before[2]]);

  await site.startServerAgain();
  const incident = await eventually("the incident is raised", async () => {
    const [row] = await site.db<{ name: string; title: string }[]>`
      select n.name, i.title from incidents i join nodes n on n.id = i.node_id
      where i.category = 'started_on_expired_authority'`;
    return row;
  });
  expect(incident.name).toBe("plain");
  expect((await forbidden.running()).version).toBe("2.0.0"); // the control plane is back
  const rejection = await eventually("the server hears why revoked does not run", async () => {
    const [row] = await site.db<
      { code: string; reason: string; programs: { running_fingerprint: null }[] }[]
    >`
      select h.last_rejection->>'code' as code, h.last_rejection->>'reason' as reason, h.programs
      from node_heartbeats h join nodes n on n.id = h.node_id where n.name = 'revoked'`;
    return row?.code === "AUTHORITY_REVOKED" ? row : undefined;
  });
  expect(rejection.reason).toMatch(/^artifact sha256:[0-9a-f]{64} is revoked/);
  expect(rejection.programs[0]!.running_fingerprint).toBeNull();
  expect(await revoked.starts()).toEqual(before[1]);
}, 240_000);
