/** Groups of two components on two machines, one policy after the other (ROLL-11, ROLL-13, ROLL-14). */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { GroupView } from "../../../../src/core/protocol/group-api.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";

const FRONT = "group-front";
const BACK = "group-back";

interface Part {
  readonly from: string;
  readonly to: string;
  /** Its bytes are not the signed ones. */
  readonly damaged?: boolean;
}

export function groups(lab: () => Lab): void {
  describe("a group of two components", () => {
    let nodes: LabNode[];
    const versions = async (): Promise<string[]> =>
      Promise.all(nodes.map(async (node) => (await node.running()).version));
    const reaches = (id: string, ...statuses: GroupView["status"][]): Promise<GroupView> =>
      eventually(`group ${id} is ${statuses.join(" or ")}`, async () => {
        const group = await lab().operator.group(id);
        return statuses.includes(group.status) && group;
      });
    const ask = (id: string, verb: string) => lab().operator.ask(`rollout-groups/${id}/${verb}`);
    const states = ({ components }: GroupView): string[] => components.map(({ rollout }) => rollout.status);

    function componentOf(name: string, profile: string, { from, to, damaged = false }: Part): object {
      const bytes = lab().origin.publish(to, {
        as: `${name}-${to}`,
        ...(damaged ? { served: "damaged" } : {}),
      });
      return {
        chain_profile_id: profile,
        node_type: NODE_TYPE,
        source_version: from,
        health_wait_seconds: 0,
        binary_name: name,
        target_version: to,
        target_binary_url: bytes.url,
        target_binary_checksum: bytes.checksum,
      };
    }

    async function create(failure_policy: string, front: Part, back: Part): Promise<string> {
      const file = join(lab().folder, "group.json"); // JSON is YAML
      const group = {
        chain_profile_id: FRONT,
        failure_policy,
        desired_versions: { front: front.to, back: back.to },
        health_wait_seconds: 0.2,
        components: [componentOf("front", FRONT, front), componentOf("back", BACK, back)],
      };
      await writeFile(file, JSON.stringify(group));
      const created = await lab().operator.fairlead("group", "create", "--file", file, "--json");
      if (created.code !== 0) throw new Error(`group create left with ${created.code}: ${created.out}`);
      return created.json<GroupView>().id;
    }

    beforeAll(async () => {
      nodes = await addRunningNodes(lab(), [
        { name: "front-1", profile: FRONT },
        { name: "back-1", profile: BACK },
      ]);
    });

    test("ROLL-13: partial_ok keeps what is complete when a later component fails", async () => {
      const id = await create(
        "partial_ok",
        { from: "1.0.0", to: "2.0.0" },
        { from: "1.0.0", to: "2.0.0", damaged: true },
      );
      const [first] = (await lab().operator.group(id)).components;
      expect(await lab().operator.ask(`rollouts/${first!.rollout.id}/start`)).toMatchObject({
        status: 409,
        code: "GROUP_MEMBER",
        detail: { group_id: id },
      });
      expect((await ask(id, "start")).status).toBe(202);
      const ended = await reaches(id, "partial");
      expect(states(ended)).toEqual(["completed", "cancelled"]);
      expect(await versions()).toEqual(["2.0.0", "1.0.0"]);
    });

    test("ROLL-13: rollback_all takes the complete one back when a later one fails", async () => {
      const id = await create(
        "rollback_all",
        { from: "2.0.0", to: "3.0.0" },
        { from: "1.0.0", to: "3.0.0", damaged: true },
      );
      const other = await lab().operator.ask(`rollout-groups/${id}/pause`);
      expect(other).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" }); // not started
      const answers = await Promise.all([ask(id, "start"), ask(id, "start")]);
      expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["202", "409"]);
      const ended = await reaches(id, "rolled_back");
      expect(states(ended)).toEqual(["rolled_back", "rolled_back"]);
      expect(await versions()).toEqual(["2.0.0", "1.0.0"]);
      expect((await lab().operator.node("front-1")).profiles[0]?.binary_version).toBe("2.0.0");
    });

    test("ROLL-13: manual pauses when a component fails, and skip goes on with the next", async () => {
      const id = await create(
        "manual",
        { from: "2.0.0", to: "4.0.0", damaged: true },
        { from: "1.0.0", to: "4.0.0" },
      );
      await ask(id, "start");
      const paused = await reaches(id, "paused");
      expect(paused.why?.code).toBe("COMPONENT_FAILED");
      expect(states(paused)).toEqual(["paused", "pending"]);
      expect((await ask(id, "skip")).status).toBe(202);
      const ended = await reaches(id, "partial");
      expect(states(ended)).toEqual(["cancelled", "completed"]);
      expect(await versions()).toEqual(["2.0.0", "4.0.0"]);
    });

    test("ROLL-14: a complete group goes back in reverse order, and its profiles are its own meanwhile", async () => {
      const id = await create("manual", { from: "2.0.0", to: "5.0.0" }, { from: "4.0.0", to: "5.0.0" });
      await ask(id, "start");
      expect(states(await reaches(id, "completed"))).toEqual(["completed", "completed"]);
      expect(await versions()).toEqual(["5.0.0", "5.0.0"]);
      expect((await ask(id, "rollback")).status).toBe(202);
      const ended = await reaches(id, "rolled_back");
      expect(await versions()).toEqual(["2.0.0", "4.0.0"]);
      const [front, back] = ended.components.map(({ rollout }) => Date.parse(rollout.ended_at!));
      expect(back!).toBeLessThan(front!);
      expect(await ask(id, "rollback")).toMatchObject({ status: 409, code: "NOTHING_TO_ROLL_BACK" });
    });
  });
}
