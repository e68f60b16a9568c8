/** Creation rules as the server itself holds them (ROLL-3): the CLI is told to leave them to it. */
import { appendFile, copyFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../../src/core/error-codes.ts";
import type { Database } from "../../../../src/server/db/database.ts";
import { openLabDatabase } from "../../../support/lab/database.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { writeManifest } from "../../../support/lab/manifest.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import { addRunningNodes } from "../../../support/lab/node.ts";
import type { Published } from "../../../support/lab/origin.ts";
import { reaches, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "rules";

export function creationRules(lab: () => Lab): void {
  describe("fairlead rollout create with a creation rule broken", () => {
    let db: Database;
    let v2: Published;
    let good: string;

    beforeAll(async () => {
      db = await openLabDatabase(lab());
      v2 = lab().origin.publish("2.0.0");
      good = await writeManifest(lab(), { id: "good", profile: PROFILE, to: v2 });
      await addRunningNodes(lab(), [{ name: "rules-1", profile: PROFILE }]);
    });
    afterAll(async () => db.end({ timeout: 1 }));

    const args = (manifest: string): string[] => {
      const what = ["rollout", "create", "--manifest", manifest, "--type", NODE_TYPE];
      return [...what, "--source-version", "1.0.0", "--no-local-checks"];
    };

    const written = async (): Promise<unknown> =>
      db`select (select count(*) from rollouts where chain_profile_id = ${PROFILE}) as rollouts,
           (select count(*) from rollout_nodes rn join rollouts r on r.id = rn.rollout_id where r.chain_profile_id = ${PROFILE}) as nodes,
           (select count(*) from events e join rollouts r on r.id = e.rollout_id where r.chain_profile_id = ${PROFILE}) as events`;

    async function expectRefusal(
      manifest: string,
      code: ErrorCode,
      exit: number,
      rule: string,
    ): Promise<void> {
      const before = await written();
      const text = await lab().operator.fairlead(...args(manifest));
      expect([text.code, text.out]).toEqual([exit, ""]);
      expect(text.err).toContain(`error ${code}: `);
      expect(text.err).toContain(`what to do: ${rule}`);
      const json = await lab().operator.fairlead(...args(manifest), "--json");
      expect(json.code).toBe(exit);
      expect(json.json()).toMatchObject({ error: { code, detail: { rule: Number(rule.slice(-1)) } } });
      expect(await written()).toEqual(before);
    }

    test("ROLL-3: rule 1, an empty checksum, is CHECKSUM_REQUIRED and writes nothing", async () => {
      const manifest = await writeManifest(lab(), { id: "bare", profile: PROFILE, to: v2, checksum: "" });
      await expectRefusal(manifest, "CHECKSUM_REQUIRED", 3, "Rule 1");
    });

    test("ROLL-3: rule 4, the version that runs already, is VERSION_UNCHANGED and writes nothing", async () => {
      const same = lab().origin.publish("1.0.0");
      const manifest = await writeManifest(lab(), { id: "same", profile: PROFILE, to: same });
      await expectRefusal(manifest, "VERSION_UNCHANGED", 3, "Rule 4");
    });

    test("ROLL-2 ROLL-3: rule 5, a second active rollout of a profile, is ROLLOUT_ACTIVE and writes nothing", async () => {
      const id = await runCreate(lab(), args(good));
      await expectRefusal(good, "ROLLOUT_ACTIVE", 4, "Rule 5");
      expect((await lab().operator.fairlead("rollout", "cancel", id)).code).toBe(0);
      await reaches(lab(), id, "cancelled");
    });

    test("ROLL-3: rule 6, a manifest that the server has otherwise, is MANIFEST_HASH_MISMATCH and writes nothing", async () => {
      const mine = join(lab().folder, "mine.yaml");
      await copyFile(good, mine);
      await appendFile(mine, "# a remark\n");
      await expectRefusal(mine, "MANIFEST_HASH_MISMATCH", 3, "Rule 6");
    });
  });
}
