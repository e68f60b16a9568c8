/** All at once, past failures and without observation: for a deadline (ROLL-12). */
import { beforeAll, describe, expect, test } from "vitest";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";
import { createArgs, reaches, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "deadline";

export function allAtOnce(lab: () => Lab): void {
  describe("all at once", () => {
    let nodes: LabNode[];

    beforeAll(async () => {
      nodes = await addRunningNodes(lab(), [
        { name: "deadline-1", profile: PROFILE },
        { name: "deadline-2", profile: PROFILE, origins: [] },
      ]);
    });

    test("ROLL-12: force_continue and skip_validation take every node that can, without waiting for health", async () => {
      const to = lab().origin.publish("2.0.0");
      const flags = ["--strategy", "all_at_once", "--force-continue", "--skip-validation", "--start"];
      const args = createArgs({ profile: PROFILE, from: "1.0.0", to, healthWait: "1h" });
      const id = await runCreate(lab(), [...args, ...flags]);
      const ended = await reaches(lab(), id, "failed"); // an hour of observation was left out
      expect(ended).toMatchObject({
        batch_count: 1,
        why: { code: "THRESHOLD_EXCEEDED" },
        counters: { succeeded: 1, failed: 1 },
      });
      expect((await nodes[0]!.running()).version).toBe("2.0.0");
      expect((await nodes[1]!.running()).version).toBe("1.0.0");
    });

    test("ROLL-14: an intent that allows no rollback is the end of it", async () => {
      const to = lab().origin.publish("3.0.0");
      const id = await runCreate(lab(), [
        ...createArgs({ profile: PROFILE, from: "2.0.0", to }),
        "--no-rollback",
        "--start",
      ]);
      await reaches(lab(), id, "completed");
      expect(await lab().operator.ask(`rollouts/${id}/rollback`)).toMatchObject({
        status: 422,
        code: "ROLLBACK_REFUSED",
      });
    });
  });
}
