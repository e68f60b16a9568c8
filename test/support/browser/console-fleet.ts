/** A real site with a few real machines and a manifest for their next version, for looking at in a browser. */
import { appendFile, chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { recordedChildren } from "../../../src/demo/children.ts";
import { fairlead } from "../../../src/demo/command.ts";
import { NODE_TYPE, PROFILE, runningVersion, stopPrograms } from "../../../src/demo/fleet.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { writeManifest } from "../../../src/demo/manifest.ts";
import { serveArtifacts } from "../../../src/demo/origin.ts";
import { startSite } from "../../../src/demo/site.ts";
import { startFleet } from "../../../src/demo/start-fleet.ts";
import { ensureDirectory } from "../../../src/host/files.ts";
import { ProcessIdentity } from "../../../src/host/process-identity.ts";
import type { NodeId } from "../../../src/core/ids.ts";
import type { IncidentDraft } from "../../../src/core/incident/draft.ts";
import { raiseIncidents } from "../../../src/server/incidents/raise.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { publishBadlySigned } from "../lab/bad-signature.ts";
import { openLabDatabase } from "../lab/database.ts";

export type ConsoleFleet = Awaited<ReturnType<typeof startConsoleFleet>>;

export async function startConsoleFleet(nodes: number) {
  const folder = await mkdtemp(join(tmpdir(), "fl-browser-"));
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const home = join(folder, "operator");
  await ensureDirectory(home, 0o700);
  const children = recordedChildren(folder);
  const site = await startSite(children, folder, home);
  const programs = new Map(
    ["1.0.0", "2.0.0", "3.0.0", "4.0.0"].map((version) => [
      `hello-${version}`,
      Buffer.from(helloProgram(version)),
    ]),
  );
  programs.set("hello-3.1.0", Buffer.from("damaged"));
  const origin = await serveArtifacts(programs);
  const before = { version: "1.0.0", program: programs.get("hello-1.0.0")! };
  const fleet = await startFleet({
    children,
    folder,
    home,
    nodes,
    ...before,
    enrollUrl: site.enrollUrl,
    origin: origin.url,
  });
  const manifestOf = (version: string) =>
    writeManifest(site.configDir, origin.url, version, programs.get(`hello-${version}`)!);
  const manifest = await manifestOf("2.0.0");
  const answer = <T extends z.ZodType>(schema: T, args: string[]) =>
    fairlead(home, args).then((said) => schema.parse(said));

  /** The server is recorded first, then the agents. */
  const agents = async () =>
    z
      .array(ProcessIdentity)
      .parse(JSON.parse(await readFile(join(folder, "children.json"), "utf8")))
      .slice(1);
  const signalAgents = async (signal: "SIGSTOP" | "SIGCONT") => {
    for (const { pid } of await agents()) process.kill(pid, signal);
  };
  let isSuspended = false;

  return {
    /** From 4.0.0 back to 2.0.0 in one batch, started while no agent answers. */
    startUnanswered: async () => {
      await signalAgents("SIGSTOP");
      isSuspended = true;
      const what = ["--manifest", manifest, "--type", NODE_TYPE, "--source-version", "4.0.0"];
      const how = ["--batch-size", String(nodes), "--start"];
      return (await answer(z.object({ id: z.string() }), ["rollout", "create", ...what, ...how])).id;
    },
    /** Half a minute of silence is long enough to be called silent; here it has passed. */
    async passSilence(rolloutId: string): Promise<void> {
      const db = await openLabDatabase({ dataDir: join(folder, "server") });
      try {
        await db`
          update rollout_nodes set launched_at = launched_at - interval '40 seconds' where rollout_id = ${rolloutId}`;
        await db`update node_heartbeats set received_at = received_at - interval '40 seconds'`;
      } finally {
        await db.end();
      }
    },
    signInLink: async () => (await answer(z.object({ url: z.string() }), ["console"])).url,
    createRollout: async () => {
      const what = ["--manifest", manifest, "--type", NODE_TYPE, "--source-version", "1.0.0"];
      const how = ["--batch-size", "1", "--health-wait", "2s"];
      return (await answer(z.object({ id: z.string() }), ["rollout", "create", ...what, ...how])).id;
    },
    /** A breaking migration from 2.0.0 to 3.0.0, started: it stops after its canary. */
    startCanary: async () => {
      const breaking = await manifestOf("3.0.0");
      const plan = "Stop the node.\\nRestore the volume of the night before.";
      await appendFile(
        breaking,
        `state_compatibility:\n  migration_type: breaking\n  recovery_plan: "${plan}"\n`,
      );
      const what = ["--manifest", breaking, "--type", NODE_TYPE, "--source-version", "2.0.0"];
      const how = ["--strategy", "canary", "--batch-size", "2", "--health-wait", "500ms"];
      const words = ["rollout", "create", ...what, ...how, "--acknowledge-state-risk", "--start"];
      return (await answer(z.object({ id: z.string() }), words)).id;
    },
    /** From 3.0.0 to bytes that are not the signed ones, started: it stops at its first node. */
    startDamaged: async () => {
      const signed = Buffer.from(helloProgram("3.1.0"));
      const damaged = await writeManifest(site.configDir, origin.url, "3.1.0", signed);
      const what = ["--manifest", damaged, "--type", NODE_TYPE, "--source-version", "3.0.0"];
      const how = ["--batch-size", "1", "--health-wait", "500ms", "--start"];
      return (await answer(z.object({ id: z.string() }), ["rollout", "create", ...what, ...how])).id;
    },
    /** Two components from 3.0.0 to 4.0.0, not started. */
    createGroup: async () => {
      const component = (name: string, ...nodes: string[]) => ({
        binary_name: name,
        node_type: NODE_TYPE,
        source_version: "3.0.0",
        target_version: "4.0.0",
        target_binary_url: `${origin.url}/hello-4.0.0`,
        target_binary_checksum: digestOf(programs.get("hello-4.0.0")!),
        health_wait_seconds: 0.5,
        batch_size: 2,
        nodes,
      });
      const file = join(folder, "group.yaml");
      const group = {
        chain_profile_id: PROFILE,
        failure_policy: "manual",
        desired_versions: { hello: "4.0.0", harbor: "4.0.0" },
        health_wait_seconds: 2,
        components: [component("hello", "edge-1"), component("harbor", "edge-2", "edge-3")],
      };
      await writeFile(file, JSON.stringify(group)); // which is YAML too
      return (await answer(z.object({ id: z.string() }), ["group", "create", "--file", file])).id;
    },
    /** As the drive opens one when a node does not come back. */
    async openIncident(node: string): Promise<void> {
      const db = await openLabDatabase({ dataDir: join(folder, "server") });
      try {
        const [row] = await db<{ id: NodeId }[]>`select id from nodes where name = ${node}`;
        const draft: IncidentDraft = {
          category: "upgrade_failed",
          severity: "critical",
          nodeId: row!.id,
          title: `${node} did not come back to its previous version`,
          detail: { code: "BACKUP_CORRUPT" },
          recoveryPlan: "1. Stop the node.\n2. Restore the volume of the night before.",
        };
        await db.begin((tx) => raiseIncidents(tx, null, [draft], Date.now()));
      } finally {
        await db.end();
      }
    },
    versions: () => Promise.all(fleet.map((node) => runningVersion(node.port))),
    /** Puts a snapshot before a node that it will refuse. */
    async publishBadlySigned(node: string): Promise<number> {
      const db = await openLabDatabase({ dataDir: join(folder, "server") });
      try {
        return await publishBadlySigned(db, node, "route_policy");
      } finally {
        await db.end();
      }
    },
    async stop() {
      if (isSuspended) await signalAgents("SIGCONT");
      await children.stopAll();
      await stopPrograms(home, join(folder, "fleet"));
      origin.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
