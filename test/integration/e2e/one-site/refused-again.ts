/** What a node refuses stays on offer. The node must not ask for it without a pause: a fleet would flood its server. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Digest } from "../../../../src/core/ids.ts";
import { sleep } from "../../../../src/host/clock.ts";
import type { Database } from "../../../../src/server/db/database.ts";
import { openLabDatabase } from "../../../support/lab/database.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lie } from "../../../support/lab/forge.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes } from "../../../support/lab/node.ts";
import { createArgs, reaches, runCreate } from "../../../support/lab/rollout.ts";
import { thief } from "../../../support/lab/thief.ts";

const PROFILE = "refusing";

export function refusedAgain(lab: () => Lab): void {
  describe("a node that is sent what it refuses, again and again", () => {
    let db: Database;
    beforeAll(async () => {
      db = await openLabDatabase(lab());
      await addRunningNodes(lab(), [{ name: "refusing-1", profile: PROFILE }]);
    });
    afterAll(async () => db.end({ timeout: 1 }));

    const refusals = async (code: string): Promise<number> =>
      (await readFile(join(lab().folder, "agent-refusing-1.log"), "utf8")).split(`"${code}"`).length - 1;

    test("SNAP-16: it asks ever more seldom", async () => {
      const v2 = lab().origin.publish("2.0.0");
      const rolloutId = await runCreate(lab(), createArgs({ profile: PROFILE, from: "1.0.0", to: v2 }));
      await lab().operator.fairlead("rollout", "cancel", rolloutId);
      await reaches(lab(), rolloutId, "cancelled");
      const target = { ...v2, checksum: Digest.parse(v2.checksum) };
      const old = { sequence: 1, current: target.checksum, target, intentDigest: null };
      const lie: Lie = { node: "refusing-1", profile: PROFILE, rolloutId, ...old };
      const stolen = await thief(lab(), db);
      await stolen.lie(lie);
      await eventually("its first number is used up", () => refusals("COMMAND_INTENT_MISSING"));
      await stolen.lie(lie);
      await eventually("it is refused", () => refusals("COMMAND_REPLAYED"));
      await sleep(3_000);
      expect(await refusals("COMMAND_REPLAYED")).toBeLessThan(10);
      await stolen.withdraw("refusing-1");
    });
  });
}
