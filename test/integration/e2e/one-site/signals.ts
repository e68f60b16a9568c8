/** Start, pause, resume and cancel of a live rollout, by the CLI (ROLL-11). */
import { beforeAll, describe, expect, test } from "vitest";
import type { RolloutView } from "../../../../src/core/protocol/operator-api.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";
import { createArgs, endingOf, reaches, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "signals";

export function signals(lab: () => Lab): void {
  describe("an operator's signals to a live rollout", () => {
    let nodes: LabNode[];
    let id: string;
    let provisioned: Map<string, string>;

    const signal = (verb: string, ...more: string[]) =>
      lab().operator.fairlead("rollout", verb, id, "--json", ...more);
    /** The next batch waits for its artifact, so that a signal surely finds it at work. */
    const atWork = () => eventually("a batch is at work", () => lab().origin.waiting() === 1);

    beforeAll(async () => {
      const names = ["signals-1", "signals-2", "signals-3"];
      nodes = await addRunningNodes(
        lab(),
        names.map((name) => ({ name, profile: PROFILE })),
      );
      const instances = nodes.map(async (node) => [node.name, (await node.running()).instance_id] as const);
      provisioned = new Map(await Promise.all(instances));
      const to = lab().origin.publish("2.0.0");
      id = await runCreate(
        lab(),
        createArgs({ profile: PROFILE, from: "1.0.0", to, batchSize: 1, healthWait: "2s" }),
      );
      lab().origin.hold();
    });

    test("ROLL-11: of two starts at once one wins and the other is told so", async () => {
      const [first, second] = (await Promise.all([signal("start"), signal("start")])).toSorted(
        (a, b) => a.code - b.code,
      );
      expect([first!.code, second!.code]).toEqual([0, 4]);
      expect(second!.json()).toMatchObject({
        error: { code: "ILLEGAL_TRANSITION", detail: { signal: "start" } },
      });
      await atWork();
    });

    test("ROLL-11: a pause waits for the batch and its health wait, running with pause_requested until then", async () => {
      const asked = await signal("pause", "--reason", "looking at it");
      expect(asked.code).toBe(0);
      const noted = await eventually("the pause is noted", async () => {
        const rollout = await lab().operator.rollout(id);
        return rollout.pause_requested && rollout;
      });
      expect(noted).toMatchObject({ status: "running", why: { code: "PAUSE_REQUESTED" } });
      lab().origin.release();
      const observed = await eventually("the health of the batch is observed", async () => {
        const rollout = await lab().operator.rollout(id);
        return rollout.health_until !== null && rollout;
      });
      expect(observed).toMatchObject({ status: "running", pause_requested: true });
      const paused = await reaches(lab(), id, "paused");
      expect(paused).toMatchObject({
        why: { code: "PAUSED" },
        counters: { succeeded: 1, pending: 2, in_progress: 0 },
      });
      const [ended] = (await lab().operator.upgrades(id)).flatMap(({ ended_at }) => ended_at ?? []);
      expect(Date.parse(ended!)).toBeGreaterThanOrEqual(Date.parse(observed.health_until!));
    });

    test("ROLL-11: resumed, it goes on with the next batch", async () => {
      lab().origin.hold();
      expect((await signal("resume")).code).toBe(0);
      await atWork();
      expect(await lab().operator.rollout(id)).toMatchObject({
        status: "running",
        current_batch: 1,
        why: { code: "UPGRADING" },
      });
    });

    test("ROLL-11: a cancel lets the node at work finish and skips the rest", async () => {
      const asked = await signal("cancel", "--reason", "wrong build");
      expect(asked.code).toBe(0);
      expect(["running", "cancelled"]).toContain(asked.json<RolloutView>().status);
      lab().origin.release();
      const { status, why, nodes: byName } = await endingOf(lab(), id);
      expect([status, why]).toEqual(["cancelled", "CANCELLED"]);
      expect(Object.values(byName).toSorted()).toEqual(["skipped", "succeeded", "succeeded"]);
      for (const node of nodes) {
        const { version, instance_id } = await node.running();
        if (byName[node.name] === "succeeded") expect(version).toBe("2.0.0");
        else expect([version, instance_id]).toEqual(["1.0.0", provisioned.get(node.name)]);
      }
    });

    test("ROLL-11: a rollout that has ended takes no signal any more", async () => {
      const late = await signal("resume");
      expect([late.code, late.json<{ error: { code: string } }>().error.code]).toEqual([
        4,
        "ILLEGAL_TRANSITION",
      ]);
    });
  });
}
