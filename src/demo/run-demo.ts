/** The demo's story: a site comes up, machines join, version 2 is signed and rolled out, batch by batch. */
import { z } from "zod";
import { ensureDirectory } from "../host/files.ts";
import { spawnChild } from "../host/process.ts";
import type { Children } from "./children.ts";
import { commandEnv, FAIRLEAD, fairlead, NODE } from "./command.ts";
import { NODE_TYPE, runningVersion } from "./fleet.ts";
import { helloProgram } from "./hello-program.ts";
import { serveArtifacts } from "./origin.ts";
import { writeManifest } from "./manifest.ts";
import { startSite } from "./site.ts";
import { startFleet } from "./start-fleet.ts";

const BEFORE = "1.0.0";
const AFTER = "2.0.0";
/** For a second terminal: one more good version, and one that ends as soon as it starts. */
const NEXT = "3.0.0";
const BROKEN = "4.0.0";

export interface DemoOptions {
  readonly children: Children;
  readonly folder: string;
  readonly home: string;
  readonly nodes: number;
  readonly say: (text: string) => void;
}

export interface DemoResult {
  readonly status: string;
  readonly nodes: readonly {
    name: string;
    version_before: string | null;
    version_after: string | null;
    seconds: number | null;
  }[];
  readonly seconds: number;
}

const RolloutNodes = z.object({
  nodes: z.array(
    z.object({ node_name: z.string(), started_at: z.string().nullable(), ended_at: z.string().nullable() }),
  ),
});

export async function runDemo({ children, folder, home, nodes, say }: DemoOptions): Promise<DemoResult> {
  const begun = performance.now();
  await ensureDirectory(home, 0o700);
  say("demo: starting PostgreSQL, Restate and the control plane");
  const site = await startSite(children, folder, home);
  say(`demo: console up after ${Math.round(performance.now() - begun)} ms at ${site.url}`);
  const { url: link } = z.object({ url: z.string() }).parse(await fairlead(home, ["console"]));
  say(`demo: sign in at ${link}`);

  const programs = new Map(
    [BEFORE, AFTER, NEXT].map((version) => [`hello-${version}`, Buffer.from(helloProgram(version))]),
  );
  programs.set(`hello-${BROKEN}`, Buffer.from("#!/bin/sh\nexit 1\n"));
  const { url: origin } = await serveArtifacts(programs); // until the demo's process ends: a second terminal upgrades too
  say(`demo: enrolling ${nodes} machines, each running version ${BEFORE}`);
  const fleet = await startFleet({
    children,
    folder,
    home,
    nodes,
    version: BEFORE,
    program: programs.get(`hello-${BEFORE}`)!,
    enrollUrl: site.enrollUrl,
    origin,
  });
  const before = await Promise.all(fleet.map((node) => runningVersion(node.port)));
  const describe = (version: string) =>
    writeManifest(site.configDir, origin, version, programs.get(`hello-${version}`)!);
  const [manifest] = await Promise.all([AFTER, NEXT, BROKEN].map(describe));
  const status = await rollOut({ children, home, nodes, say }, manifest!);
  const after = await Promise.all(fleet.map((node) => runningVersion(node.port)));
  const took = await secondsByNode(home);
  const result = fleet.map(({ name }, index) => ({
    name,
    version_before: before[index] ?? null,
    version_after: after[index] ?? null,
    seconds: took.get(name) ?? null,
  }));
  const well = status === "completed" && result.every((node) => node.version_after === AFTER);
  say(
    `demo: ${well ? "all" : "NOT all"} ${nodes} programs answer with version ${AFTER}; console at ${site.url}`,
  );
  return {
    status: well ? "completed" : "failed",
    nodes: result,
    seconds: (performance.now() - begun) / 1000,
  };
}

async function rollOut(
  { children, home, nodes, say }: Omit<DemoOptions, "folder">,
  manifest: string,
): Promise<string> {
  say(`demo: signing an intent for version ${AFTER} and rolling it out in batches of 2`);
  const size = ["--batch-size", String(Math.min(2, nodes)), "--health-wait", "2s"];
  const what = ["--manifest", manifest, "--type", NODE_TYPE, "--source-version", BEFORE];
  const created = z
    .object({ id: z.string() })
    .parse(await fairlead(home, ["rollout", "create", ...what, ...size, "--start"]));
  // The live view is the CLI's own; it goes to the terminal, stdout stays for the result.
  const { child, identity } = await spawnChild(NODE, [FAIRLEAD, "rollout", "watch", created.id], {
    env: { ...commandEnv(home), TERM: process.env["TERM"] ?? "dumb" },
    stdio: ["ignore", process.stderr.fd, process.stderr.fd],
  });
  const left = new Promise((resolve) => child.once("exit", resolve));
  await children.record(identity);
  await left;
  return z.object({ status: z.string() }).parse(await fairlead(home, ["rollout", "show", created.id])).status;
}

async function secondsByNode(home: string): Promise<Map<string, number>> {
  const list = z
    .object({ rollouts: z.array(z.object({ id: z.string() })) })
    .parse(await fairlead(home, ["rollout", "list"]));
  const { nodes } = RolloutNodes.parse(await fairlead(home, ["rollout", "nodes", list.rollouts[0]!.id]));
  return new Map(
    nodes.flatMap(({ node_name, started_at, ended_at }) =>
      started_at === null || ended_at === null
        ? []
        : [[node_name, (Date.parse(ended_at) - Date.parse(started_at)) / 1000]],
    ),
  );
}
