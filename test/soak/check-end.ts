/**
 * The end of a soak.
 *
 * 1. Every node runs the wanted version: the program says so, the installed file has its fingerprint, and the server
 *    records and shows the same of a node that is heard and well.
 * 2. No rollout is active.
 * 3. No instance of a program was started twice.
 * 4. Everything that is signed for a node passes the node's twelve checks.
 */
import { join } from "node:path";
import type { NodeView } from "../../src/core/protocol/operator-api.ts";
import type { NodeSnapshots } from "../../src/core/protocol/snapshot-api.ts";
import { isActive } from "../../src/core/rollout/states.ts";
import { eventually } from "../support/lab/eventually.ts";
import { versionOf } from "./catch-up.ts";
import type { Scene } from "./faults.ts";
import type { Machine } from "./machine.ts";
import type { Brought } from "./releases.ts";

export async function checkEnd(scene: Scene, wanted: Brought): Promise<void> {
  const { operator } = scene.site;
  for (const machine of scene.machines) await checkMachine(scene, machine, wanted);
  const active = (await operator.rollouts()).filter(({ status }) => isActive(status));
  if (active.length > 0) throw new Error(`rollouts are stuck: ${JSON.stringify(active)}`); // (2)
  for (const machine of scene.machines) await checkSigned(scene, machine);
}

/** (1) */
async function checkMachine({ site }: Scene, machine: Machine, wanted: Brought): Promise<void> {
  let seen: readonly unknown[] = [];
  const shown = (node: NodeView | undefined): readonly unknown[] => [
    node?.contact,
    node?.state,
    node === undefined ? null : versionOf(node),
    node?.programs[0]?.running_fingerprint,
    node?.programs[0]?.application_health,
  ];
  const { version, checksum } = wanted;
  const expected = [version, checksum, "current", "active", version, checksum, "ok"];
  await eventually(`${machine.name} is where its operator wants it`, async () => {
    const node = (await site.operator.nodes()).find(({ name }) => name === machine.name);
    seen = [await machine.answers(), await machine.installed(), ...shown(node)];
    return JSON.stringify(seen) === JSON.stringify(expected);
  }).catch((error: unknown) => {
    throw new Error(`${machine.name}: expected ${JSON.stringify(expected)}, seen ${JSON.stringify(seen)}`, {
      cause: error,
    });
  });
  const starts = await machine.starts();
  if (new Set(starts).size !== starts.length) throw new Error(`${machine.name}: ${starts.join(", ")}`); // (3)
}

/** (4) */
async function checkSigned({ site }: Scene, { name }: Machine): Promise<void> {
  const { operator, lab } = site;
  const file = (scope: string): string => join(lab.folder, `${name}.${scope}.frame`);
  const node = (await operator.nodes()).find((each) => each.name === name)!;
  const { snapshots } = await operator.ask<NodeSnapshots>("snapshot", "list", name);
  const scopes = snapshots.filter(({ published }) => published !== null).map(({ scope }) => scope);
  for (const scope of scopes)
    await operator.ask("snapshot", "show", name, scope, "--frame", "--out", file(scope));
  const believed = ["--bundle", file("trust_bundle"), "--node", node.id];
  for (const scope of scopes) await operator.ask("snapshot", "verify", file(scope), ...believed);
}
