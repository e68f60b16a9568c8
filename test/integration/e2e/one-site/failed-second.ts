/** A second rollout that fails before it changes anything, and the rollback of the first one after it (ROLL-14). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";
import type { Published } from "../../../support/lab/origin.ts";
import { completed, endingOf, reaches, startRollout } from "../../../support/lab/rollout.ts";

const PROFILE = "second";

export function failedSecond(lab: () => Lab): void {
  describe("a second rollout whose bytes are not the signed ones", () => {
    let nodes: LabNode[];
    let v2: Published;
    let first: string;
    let second: string;

    beforeAll(async () => {
      nodes = await addRunningNodes(
        lab(),
        ["second-1", "second-2"].map((name) => ({ name, profile: PROFILE })),
      );
      v2 = lab().origin.publish("2.0.0", { as: "second-v2" });
      const v3 = lab().origin.publish("3.0.0", { as: "second-v3", served: "other bytes" });
      first = await startRollout(lab(), { profile: PROFILE, from: "1.0.0", to: v2 });
      expect(await endingOf(lab(), first)).toEqual(completed(nodes));
      second = await startRollout(lab(), { profile: PROFILE, from: "2.0.0", to: v3 });
      await reaches(lab(), second, "paused");
      await lab().operator.fairlead("rollout", "cancel", second);
      await reaches(lab(), second, "cancelled");
    });

    const rollback = (id: string, ...args: string[]) =>
      lab().operator.fairlead("rollout", "rollback", id, ...args, "--json");

    test("ROLL-14: has nothing to roll back, and says so", async () => {
      expect((await rollback(second)).json()).toMatchObject({ error: { code: "NOTHING_TO_ROLL_BACK" } });
    });

    test("ROLL-14: leaves the first one its rollback, under an intent that is newer than the second's", async () => {
      expect((await rollback(first)).json()).toMatchObject({ error: { code: "INTENT_REQUIRED" } });
      const asked = await rollback(first, "--profile", PROFILE, "--checksum", v2.checksum);
      expect(asked.code).toBe(0);
      await reaches(lab(), first, "rolled_back");
      const upgrades = await lab().operator.upgrades(first);
      expect(upgrades.map(({ status }) => status)).toEqual(["rolled_back", "rolled_back"]);
      for (const node of nodes) expect((await node.running()).version).toBe("1.0.0");
    });

    test("ROLL-29: fairlead node adopt records what a node runs, and asks for a version that no rollout has named", async () => {
      const adopt = (...args: string[]) =>
        lab().operator.fairlead("node", "adopt", "second-1", "--reason", "looked at it", ...args, "--json");
      expect((await adopt()).json()).toMatchObject({ error: { code: "INVALID_INPUT" } });
      const adopted = await adopt("--version", "1.0.0");
      const recorded = { binary_version: "1.0.0", fingerprint: await nodes[0]!.installed() };
      expect([adopted.code, adopted.json()]).toMatchObject([0, { before: recorded, after: recorded }]);
    });
  });
}
