/** Nodes that failed for a reason that goes away, and nodes that are left out (ROLL-11), with a failed canary. */
import { beforeAll, describe, expect, test } from "vitest";
import type { NodeUpgradeView } from "../../../../src/core/protocol/operator-api.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";
import { createArgs, reaches, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "retry";
const NAMES = ["retry-1", "retry-2", "retry-3"];

export function retry(lab: () => Lab): void {
  describe("a rollout whose artifact is damaged at first", () => {
    let nodes: LabNode[];
    let id: string;
    const ask = (verb: string, body?: object) => lab().operator.ask(`rollouts/${id}/${verb}`, body);
    const upgradeOf = async (name: string): Promise<NodeUpgradeView> =>
      (await lab().operator.upgrades(id)).find(({ node_name }) => node_name === name)!;
    const becomes = (name: string, status: NodeUpgradeView["status"]): Promise<NodeUpgradeView> =>
      eventually(`${name} is ${status}`, async () => {
        const upgrade = await upgradeOf(name);
        return upgrade.status === status && upgrade;
      });
    /** The bytes at the origin are what was signed, or not. */
    const publish = (version: string, damaged: boolean) =>
      lab().origin.publish(version, { as: `retry-${version}`, ...(damaged ? { served: "damaged" } : {}) });

    beforeAll(async () => {
      nodes = await addRunningNodes(
        lab(),
        NAMES.map((name) => ({ name, profile: PROFILE })),
      );
      const to = publish("2.0.0", true);
      id = await runCreate(lab(), createArgs({ profile: PROFILE, from: "1.0.0", to, batchSize: 3 }));
    });

    test("ROLL-11: a node is skipped before the start; one that is not in the rollout cannot be", async () => {
      const { node_id } = await upgradeOf("retry-3");
      const stranger = "00000000-0000-4000-8000-000000000000";
      expect(await ask(`nodes/${stranger}/skip`)).toMatchObject({ status: 404, code: "NOT_FOUND" });
      expect((await ask(`nodes/${node_id}/skip`, { reason: "broken disk" })).status).toBe(202);
      await becomes("retry-3", "skipped");
      expect(await ask(`nodes/${node_id}/skip`)).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
    });

    test("ROLL-11: the others fail, and a retry while the cause is there fails again, as attempt 2", async () => {
      expect((await ask("start")).status).toBe(202);
      await reaches(lab(), id, "paused");
      expect(await upgradeOf("retry-1")).toMatchObject({
        status: "failed",
        error_code: "ARTIFACT_DIGEST_MISMATCH",
      });
      const { node_id } = await upgradeOf("retry-1");
      expect((await ask(`nodes/${node_id}/retry`)).status).toBe(202);
      const again = await eventually("the second attempt ends", async () => {
        const upgrade = await upgradeOf("retry-1");
        return upgrade.attempt_count === 2 && upgrade.status === "failed" && upgrade;
      });
      expect(again.error_code).toBe("ARTIFACT_DIGEST_MISMATCH");
      expect((await lab().operator.rollout(id)).status).toBe("paused");
    });

    test("ROLL-11: once the cause is gone a retry of all failed nodes succeeds, and the rollout completes", async () => {
      publish("2.0.0", false);
      expect((await ask("retry", { reason: "the mirror is repaired" })).status).toBe(202);
      expect(await becomes("retry-1", "succeeded")).toMatchObject({ attempt_count: 3, error_code: null });
      expect(await becomes("retry-2", "succeeded")).toMatchObject({ attempt_count: 2 });
      expect((await lab().operator.rollout(id)).status).toBe("paused");
      expect(await ask("retry")).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" }); // nobody has failed
      expect((await ask("resume")).status).toBe(202);
      expect((await reaches(lab(), id, "completed")).counters).toMatchObject({ succeeded: 2, skipped: 1 });
      const { version, instance_id } = await nodes[0]!.running();
      expect(version).toBe("2.0.0");
      expect(instance_id).toMatch(new RegExp(`^${id}\\.forward\\.3\\.`));
      expect((await nodes[2]!.running()).version).toBe("1.0.0");
    });

    test("ROLL-12: a failed canary pauses the next rollout, and a force goes on without it", async () => {
      const to = publish("3.0.0", true);
      const flags = ["--strategy", "canary", "--threshold", "1", "--start"];
      const args = createArgs({ profile: PROFILE, from: "2.0.0", to, batchSize: 1 });
      id = await runCreate(lab(), [...args, ...flags]);
      expect(await reaches(lab(), id, "paused")).toMatchObject({
        why: { code: "CANARY_FAILED" },
        counters: { failed: 1, pending: 1 },
      });
      publish("3.0.0", false);
      expect((await ask("force", { reason: "the mirror is repaired" })).status).toBe(202);
      expect(await reaches(lab(), id, "completed")).toMatchObject({
        force_continue: true,
        counters: { failed: 1, succeeded: 1 },
      });
    });

    test("ROLL-14: a rollout whose nodes a later one has changed cannot be rolled back", async () => {
      const [, earlier] = (await lab().operator.rollouts()).filter(
        (each) => each.chain_profile_id === PROFILE,
      );
      expect(await lab().operator.ask(`rollouts/${earlier!.id}/rollback`)).toMatchObject({
        status: 422,
        code: "ROLLBACK_REFUSED",
        detail: { rollout_id: id },
      });
    });
  });
}
