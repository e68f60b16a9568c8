/** The canary of a breaking migration with its approval, and then its way back (ROLL-12, ROLL-14, ROLL-21). */
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { writeManifest } from "../../../support/lab/manifest.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";
import { completed, endingOf, reaches, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "canary";
const PLAN = "restore the state, then provision anew";

export function canary(lab: () => Lab): void {
  describe("the canary of a breaking migration", () => {
    let nodes: LabNode[];
    let id: string;
    const ask = (verb: string, body?: object, key?: string) =>
      lab().operator.ask(`rollouts/${id}/${verb}`, body, key);
    const versions = async (): Promise<string[]> =>
      Promise.all(nodes.map(async (node) => (await node.running()).version));

    beforeAll(async () => {
      const names = ["canary-1", "canary-2", "canary-3"];
      nodes = await addRunningNodes(
        lab(),
        names.map((name) => ({ name, profile: PROFILE })),
      );
      const manifest = await writeManifest(lab(), {
        id: "v2",
        profile: PROFILE,
        to: lab().origin.publish("2.0.0"),
        stateCompatibility: { migration_type: "breaking", recovery_plan: PLAN },
      });
      id = await runCreate(
        lab(),
        [
          ["rollout", "create", "--manifest", manifest, "--type", NODE_TYPE, "--source-version", "1.0.0"],
          ["--strategy", "canary", "--canary-size", "1", "--batch-size", "2", "--health-wait", "500ms"],
          ["--acknowledge-state-risk"],
        ].flat(),
      );
    });

    test("ROLL-11: before its start it takes a start, a cancel or a skip, and nothing else", async () => {
      for (const verb of ["pause", "resume", "force", "approve-canary", "rollback", "retry"])
        expect(await ask(verb)).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
      expect((await lab().operator.rollout(id)).status).toBe("pending");
    });

    test("ROLL-12: upgrades one random node, then waits for an approval", async () => {
      expect((await ask("start", { reason: "new state format" }, "start-canary-1")).status).toBe(202);
      expect((await ask("start", {}, "start-canary-1")).status).toBe(202); // the same wish again
      const paused = await reaches(lab(), id, "paused");
      expect(paused).toMatchObject({
        why: { code: "CANARY_APPROVAL" },
        counters: { succeeded: 1, pending: 2 },
        rollback_tier: 3,
        canary_approved_by: null,
      });
      expect((await versions()).toSorted()).toEqual(["1.0.0", "1.0.0", "2.0.0"]);
    });

    test("ROLL-12: neither a resume nor a force is an approval", async () => {
      expect(await ask("resume")).toMatchObject({ status: 409, code: "CANARY_NOT_APPROVED" });
      expect((await ask("force")).status).toBe(202);
      await eventually("the force is noted", async () => (await lab().operator.rollout(id)).force_continue);
      expect(await lab().operator.rollout(id)).toMatchObject({
        status: "paused",
        why: { code: "CANARY_APPROVAL" },
      });
    });

    test("ROLL-12: of two approvals at once one wins; it is recorded, and the rest follows", async () => {
      const answers = await Promise.all([
        ask("approve-canary", { reason: "state is fine" }),
        ask("approve-canary"),
      ]);
      expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["202", "409"]);
      const ended = await reaches(lab(), id, "completed");
      expect(ended.canary_approved_by).not.toBeNull();
      expect(ended.canary_approved_at).not.toBeNull();
      expect(await endingOf(lab(), id)).toEqual(completed(nodes));
      expect(await versions()).toEqual(["2.0.0", "2.0.0", "2.0.0"]);
    });

    test("ROLL-14: completed, it is rolled back batch by batch from the last, on every machine", async () => {
      expect((await ask("rollback", { reason: "users complain" })).status).toBe(202);
      const back = await reaches(lab(), id, "rolled_back");
      expect(back).toMatchObject({
        counters: { rolled_back: 3, failed_rollback: 0 },
        why: { code: "ROLLED_BACK" },
      });
      expect(await versions()).toEqual(["1.0.0", "1.0.0", "1.0.0"]);
      const upgrades = await lab().operator.upgrades(id);
      const [first, ...rest] = upgrades.map(({ batch_index, ended_at }) => ({
        batch_index,
        at: Date.parse(ended_at!),
      }));
      for (const later of rest) expect([later.batch_index, later.at < first!.at]).toEqual([1, true]);
      for (const node of nodes) {
        const { instance_id } = await node.running();
        expect(instance_id).toMatch(new RegExp(`^${id}\\.reverse\\.1\\.`));
      }
    });

    test("ROLL-21: the recorded version is the previous one again", async () => {
      for (const { name } of nodes)
        expect(await lab().operator.node(name)).toMatchObject({
          profiles: [{ binary_version: "1.0.0" }],
          state: "active",
        });
    });

    test("ROLL-11: rolled back, it takes no signal any more, for no node is left on the new version", async () => {
      for (const verb of ["start", "pause", "resume", "cancel", "force", "approve-canary", "retry"])
        expect(await ask(verb)).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
      // A rollback is for nodes on the new version, and none is left there.
      expect(await ask("rollback")).toMatchObject({ status: 409, code: "NOTHING_TO_ROLL_BACK" });
    });
  });
}
