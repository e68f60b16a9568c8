/**
 * A new enrollment clears what was recorded of a machine (ROLL-29): the record of the node that it was stays with that node, and
 * the next upgrade begins from what the machine runs.
 */
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readIdentity } from "../../../../src/agent/identity/store.ts";
import type { ProcessIdentity } from "../../../../src/host/process-identity.ts";
import type { Database } from "../../../../src/server/db/database.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import { openLabDatabase } from "../../../support/lab/database.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addNode, type LabNode } from "../../../support/lab/node.ts";
import { killHard } from "../../../support/lab/processes.ts";
import { completed, endingOf, reaches, startRollout } from "../../../support/lab/rollout.ts";

const PROFILE = "cleared";
const WRONG = `sha256:${"9".repeat(64)}`;

export function enrollmentClears(lab: () => Lab): void {
  describe("a machine whose recorded version is wrong", () => {
    let db: Database;
    let node: LabNode;
    let agent: ProcessIdentity;
    let before: string;

    beforeAll(async () => {
      db = await openLabDatabase(lab());
      node = await addNode(lab(), { name: "cleared-1", profile: PROFILE });
      agent = await node.startAgent();
      await node.reported();
      const to = lab().origin.publish("2.0.0", { as: "cleared-v2" });
      const first = await startRollout(lab(), { profile: PROFILE, from: "1.0.0", to });
      expect(await endingOf(lab(), first)).toEqual(completed([node]));
      before = (await readIdentity(node.dataDir))!.node_id;
      // As a database that lost a verdict has it.
      await db`
        update node_config_state set binary_version = '1.9.0', fingerprint = ${WRONG} where node_id = ${before}`;
    });
    afterAll(async () => db.end({ timeout: 1 }));

    const recordedOf = async (id: string) => {
      const rows = await db<{ binary_version: string; fingerprint: string }[]>`
        select binary_version, fingerprint from node_config_state where node_id = ${id}`;
      return rows.map(({ binary_version, fingerprint }) => ({ binary_version, fingerprint }));
    };

    test("ROLL-29: is not upgraded under its old identity: the node refuses a command from another version", async () => {
      const to = lab().origin.publish("3.0.0", { as: "cleared-v3" });
      const id = await startRollout(lab(), { profile: PROFILE, from: "1.9.0", to });
      await reaches(lab(), id, "paused");
      expect((await lab().operator.upgrades(id))[0]).toMatchObject({
        status: "failed",
        error_code: "CURRENT_MISMATCH",
      });
      await lab().operator.fairlead("rollout", "cancel", id);
      await reaches(lab(), id, "cancelled");
    });

    test("ROLL-29: enrolled again, is recorded with what it runs and without an old assignment, and is upgraded from there", async () => {
      await lab().operator.fairlead("node", "revoke", node.name, "--reason", "its record is wrong");
      const token = await lab().operator.enrollmentToken(node.name, PROFILE, NODE_TYPE);
      expect(token).not.toBe(await readFile(node.tokenFile, "utf8"));
      await writeFile(node.tokenFile, token, { mode: 0o600 });
      await killHard(agent);
      agent = await node.startAgent();
      const after = await eventually("the machine has a new identity", async () => {
        const identity = await readIdentity(node.dataDir);
        return identity?.node_id !== before && identity?.node_id;
      });
      const [recorded] = await eventually("what it runs is recorded", async () => {
        const rows = await recordedOf(after);
        return rows.length > 0 && rows;
      });
      expect(recorded!.fingerprint).toBe(await node.installed());
      expect((await node.running()).version).toBe("2.0.0");
      expect(await recordedOf(before)).toEqual([{ binary_version: "1.9.0", fingerprint: WRONG }]);
      expect(await db`select 1 from service_assignments where node_id = ${after}`).toHaveLength(0);

      const to = lab().origin.publish("3.0.0", { as: "cleared-v3-again" });
      const id = await startRollout(lab(), { profile: PROFILE, from: recorded!.binary_version, to });
      expect(await endingOf(lab(), id)).toEqual(completed([node]));
      expect((await node.running()).version).toBe("3.0.0");
      expect(await recordedOf(after)).toEqual([
        { binary_version: "3.0.0", fingerprint: await node.installed() },
      ]);
    });
  });
}
