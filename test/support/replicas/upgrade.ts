/** A rollout that something happens to in the middle of its first batch, and what must be true of it afterwards. */
import { expect } from "vitest";
import { eventually } from "../lab/eventually.ts";
import type { LabNode } from "../lab/node.ts";
import { completed, endingOf, startRollout } from "../lab/rollout.ts";
import type { ReplicaSite } from "./site.ts";

type Disturb = () => Promise<void>;

export interface Upgrades {
  /** Each batch waits for its artifact while it is disturbed: the first of two nodes, and the second of the last one. */
  through(first: Disturb, second?: Disturb): Promise<void>;
  /** What the nodes run. */
  now(): string;
  /** What they may be upgraded to. */
  next(): string;
}

export function upgradesOf(site: ReplicaSite, nodes: readonly LabNode[]): Upgrades {
  let major = 1;
  const [now, next] = [() => `${major}.0.0`, () => `${major + 1}.0.0`];
  return {
    now,
    next,
    async through(first, second = async () => undefined) {
      const from = now();
      const to = site.origin.publish(next());
      site.origin.hold();
      const id = await startRollout(site, { from, to, batchSize: 2, healthWait: "1s" });
      await eventually("the first batch is at work", () => site.origin.waiting() === 2);
      await first();
      site.origin.release();
      site.origin.hold();
      await eventually("the second batch is at work", () => site.origin.waiting() === 1);
      await second();
      site.origin.release();
      expect(await endingOf(site, id)).toEqual(completed(nodes));
      major += 1;
      await expectOnce(site, id, nodes, to.version);
    },
  };
}

/** One command for each node, direction and attempt, and one start of the program for each of them. */
export async function expectOnce(
  site: ReplicaSite,
  rolloutId: string,
  nodes: readonly LabNode[],
  version: string,
): Promise<void> {
  const commands = await eventually(
    "the database answers",
    async () =>
      site.db<{ name: string; count: number }[]>`
      select n.name, count(*)::int as count from commands c join nodes n on n.id = c.node_id
      where c.rollout_id = ${rolloutId} group by n.name order by n.name`,
  );
  expect(commands.map(({ name, count }) => [name, count])).toEqual(nodes.map(({ name }) => [name, 1]));
  for (const node of nodes) {
    const running = await node.running();
    expect(running.version).toBe(version);
    const starts = await node.starts();
    expect(starts.filter((start) => start.startsWith(`${rolloutId}.`))).toEqual([`${rolloutId}.forward.1.1`]);
    expect(new Set(starts).size).toBe(starts.length);
  }
}
