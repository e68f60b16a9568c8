/**
 * One rollout over many nodes, and on each node the agent is killed at another point of its upgrade. The next agent
 * is the shipped bundle.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inRoot } from "../../../scripts/root.mjs";
import { UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { commandEnv, NODE } from "../../../src/demo/command.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { writeManifest } from "../../support/lab/manifest.ts";
import { NODE_TYPE } from "../../support/lab/agent-of-node.ts";
import { addNode, type LabNode } from "../../support/lab/node.ts";
import type { Published } from "../../support/lab/origin.ts";
import { killHard } from "../../support/lab/processes.ts";
import { completed, type Ending, endingOf, runCreate } from "../../support/lab/rollout.ts";
import type { StallPoint, StallSpec } from "../../support/lab/stalling-agent.ts";

const STALLING_AGENT = fileURLToPath(new URL("../../support/lab/stalling-agent.ts", import.meta.url));

const POINTS: Readonly<Record<string, StallPoint>> = {
  ...Object.fromEntries(UPGRADE_ACTIONS.map(({ name }) => [`after ${name}`, { after: name }])),
  "inside install_artifact, before the file is renamed": { before: [String.raw`rename .*/bin/hello$`] },
  "inside install_artifact, when the file is renamed and not yet synced": {
    before: [String.raw`rename .*/bin/hello$`, "sync .*/bin$"],
  },
  "inside write_configs, between two files": {
    before: [String.raw`rename .*/config/app\.toml$`, String.raw`rename .*/config/peers\.toml$`],
  },
};

const CONFIGS = { "app.toml": "level = 2\n", "peers.toml": "new = true\n" };

let lab: Lab;
let v2: Published;
let rolloutId: string;
let ending: Ending;
const nodes = new Map<string, LabNode>();

async function startStalling(node: LabNode, point: StallPoint): Promise<() => Promise<void>> {
  const spec: StallSpec = { config: node.configPath, point, marker: join(node.folder, "stalled") };
  const args = [STALLING_AGENT, JSON.stringify(spec)];
  const agent = await lab.processes.start(`stalling-${node.name}`, NODE, args, {
    env: { ...commandEnv(lab.home), NODE_COMPILE_CACHE: inRoot(".cache/compile") },
  });
  return async () => {
    await eventually(`${node.name} is at its point`, () => existsSync(spec.marker));
    await killHard(agent);
    await node.startAgent();
  };
}

beforeAll(async () => {
  lab = await startLab();
  v2 = lab.origin.publish("2.0.0");
  const points = Object.entries(POINTS);
  const added = await Promise.all(
    points.map(async ([when], index) => [when, await addNode(lab, { name: `n${index + 1}` })] as const),
  );
  for (const [when, node] of added) nodes.set(when, node);
  const kills = await Promise.all(
    points.map(async ([when, point]) => startStalling(nodes.get(when)!, point)),
  );
  await Promise.all([...nodes.values()].map(async (node) => node.reported()));
  const manifest = await writeManifest(lab, { id: "v2", to: v2, configs: CONFIGS });
  const policy = [
    "--type",
    NODE_TYPE,
    "--source-version",
    "1.0.0",
    "--batch-size",
    "20",
    "--health-wait",
    "1s",
  ];
  rolloutId = await runCreate(lab, ["rollout", "create", "--manifest", manifest, ...policy, "--start"]);
  await Promise.all(kills.map(async (killAndRestart) => killAndRestart()));
  ending = await endingOf(lab, rolloutId);
}, 300_000);
afterAll(async () => lab.stop(), 120_000);

describe("an agent killed in the middle of a rollout", () => {
  test("ROLL-6: the agents of all nodes SIGKILLed and started again, the rollout completes", () => {
    expect(ending).toEqual(completed([...nodes.values()]));
  });

  test.each(Object.keys(POINTS))(
    "ROLL-6: the agent SIGKILLed %s: the next one ends at the target, one start per instance",
    async (when) => {
      const node = nodes.get(when)!;
      const { version, instance_id } = await node.running();
      expect(version).toBe("2.0.0");
      expect(instance_id).toMatch(new RegExp(`^${rolloutId}\\.forward\\.1\\.\\d+$`));
      expect(await node.installed()).toBe(v2.checksum);
      for (const [path, content] of Object.entries(CONFIGS))
        expect(await readFile(join(node.folder, "config", path), "utf8")).toBe(content);
      expect(await readdir(join(node.folder, "bin"))).toEqual(["hello"]);
      const starts = await node.starts();
      expect(starts).toContain(instance_id);
      expect(new Set(starts).size).toBe(starts.length);
    },
  );
});
