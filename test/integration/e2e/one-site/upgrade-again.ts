/** There, back by a second rollout, and there again (ROLL-6): each time the bytes are really installed. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Lab } from "../../../support/lab/lab.ts";
import { writeManifest } from "../../../support/lab/manifest.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";
import type { Published } from "../../../support/lab/origin.ts";
import { completed, endingOf, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "again";

export function upgradeAgain(lab: () => Lab): void {
  describe("an upgrade, its rollback by a second rollout, and the same upgrade again", () => {
    let nodes: LabNode[];
    let v1: Published;
    let v2: Published;

    beforeAll(async () => {
      nodes = await addRunningNodes(
        lab(),
        ["again-1", "again-2"].map((name) => ({ name, profile: PROFILE })),
      );
      // Bytes of their own, so that requests for them can be counted.
      [v1, v2] = [
        lab().origin.publish("1.0.0", { as: "again-v1" }),
        lab().origin.publish("2.0.0", { as: "again-v2" }),
      ];
    });

    /** Rolls out and checks that every node runs and has the target, by a file that was not there before. */
    async function rollOut(id: string, from: string, to: Published): Promise<string> {
      const manifest = await writeManifest(lab(), { id, profile: PROFILE, to });
      const inodes = await Promise.all(nodes.map(async (node) => node.inode()));
      const what = [
        "rollout",
        "create",
        "--manifest",
        manifest,
        "--type",
        NODE_TYPE,
        "--source-version",
        from,
      ];
      const rollout = await runCreate(lab(), [
        ...what,
        "--batch-size",
        "2",
        "--health-wait",
        "1s",
        "--start",
      ]);
      expect(await endingOf(lab(), rollout)).toEqual(completed(nodes));
      for (const [index, node] of nodes.entries()) {
        const { version, instance_id } = await node.running();
        expect([version, instance_id]).toEqual([to.version, `${rollout}.forward.1.1`]);
        expect(await node.installed()).toBe(to.checksum);
        expect(await node.inode()).not.toBe(inodes[index]);
      }
      return rollout;
    }
    const downloads = (): number[] =>
      [v1, v2].map(({ url }) => lab().origin.requests.filter((path) => url.endsWith(path)).length);

    test("ROLL-6: upgrade, roll back by a second rollout, the same upgrade again really reinstalls", async () => {
      await rollOut("v2", "1.0.0", v2);
      expect(downloads()).toEqual([0, 2]);
      await rollOut("v1", "2.0.0", v1);
      expect(downloads()).toEqual([2, 2]);
      await rollOut("v2", "1.0.0", v2);
      expect(downloads()).toEqual([2, 4]);
      for (const node of nodes) {
        const starts = await node.starts();
        expect([starts.length, new Set(starts).size]).toEqual([4, 4]);
        const backups = await readdir(join(node.folder, "data", ".upgrade-backup", "v2"));
        expect(backups.toSorted()).toEqual(["forward.1", "forward.1.old-1"]);
      }
    });
  });
}
