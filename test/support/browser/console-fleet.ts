/** A real site with a few real machines and a manifest for their next version, for looking at in a browser. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { recordedChildren } from "../../../src/demo/children.ts";
import { fairlead } from "../../../src/demo/command.ts";
import { NODE_TYPE, runningVersion, stopPrograms } from "../../../src/demo/fleet.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { writeManifest } from "../../../src/demo/manifest.ts";
import { serveArtifacts } from "../../../src/demo/origin.ts";
import { startSite } from "../../../src/demo/site.ts";
import { startFleet } from "../../../src/demo/start-fleet.ts";
import { ensureDirectory } from "../../../src/host/files.ts";
import { publishBadlySigned } from "../lab/bad-signature.ts";
import { openLabDatabase } from "../lab/database.ts";

export type ConsoleFleet = Awaited<ReturnType<typeof startConsoleFleet>>;

export async function startConsoleFleet(nodes: number) {
  const folder = await mkdtemp(join(tmpdir(), "fl-browser-"));
  const home = join(folder, "operator");
  await ensureDirectory(home, 0o700);
  const children = recordedChildren(folder);
  const site = await startSite(children, folder, home);
  const programs = new Map(
    ["1.0.0", "2.0.0"].map((version) => [`hello-${version}`, Buffer.from(helloProgram(version))]),
  );
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
  const manifest = await writeManifest(site.configDir, origin.url, "2.0.0", programs.get("hello-2.0.0")!);
  const answer = <T extends z.ZodType>(schema: T, args: string[]) =>
    fairlead(home, args).then((said) => schema.parse(said));

  return {
    signInLink: async () => (await answer(z.object({ url: z.string() }), ["console"])).url,
    createRollout: async () => {
      const what = ["--manifest", manifest, "--type", NODE_TYPE, "--source-version", "1.0.0"];
      const how = ["--batch-size", "1", "--health-wait", "2s"];
      return (await answer(z.object({ id: z.string() }), ["rollout", "create", ...what, ...how])).id;
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
      await children.stopAll();
      await stopPrograms(home, join(folder, "fleet"));
      origin.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
