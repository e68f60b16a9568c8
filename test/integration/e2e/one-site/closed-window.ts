/** The signed window of a rollout closes while it runs: nothing more is touched until somebody signs again. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RolloutView } from "../../../../src/core/protocol/operator-api.ts";
import type { Database } from "../../../../src/server/db/database.ts";
import { openLabDatabase } from "../../../support/lab/database.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes } from "../../../support/lab/node.ts";
import type { Published } from "../../../support/lab/origin.ts";
import { completed, createArgs, endingOf, reaches, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "window";

export function closedWindow(lab: () => Lab): void {
  describe("a rollout whose intent's window has closed", () => {
    let db: Database;
    let v2: Published;
    let id: string;
    const nodes = [
      { name: "window-1", profile: PROFILE },
      { name: "window-2", profile: PROFILE },
    ];

    beforeAll(async () => {
      db = await openLabDatabase(lab());
      v2 = lab().origin.publish("2.0.0");
      await addRunningNodes(lab(), nodes);
      id = await runCreate(lab(), createArgs({ profile: PROFILE, from: "1.0.0", to: v2, batchSize: 1 }));
      // A window of a few seconds would make the test a race: its end is moved here, where the gate looks.
      await db`update rollouts set intent_not_after = now() - interval '1 minute' where id = ${id}`;
      await lab().operator.fairlead("rollout", "start", id);
    });
    afterAll(async () => db.end({ timeout: 1 }));

    const resume = (...args: string[]) => lab().operator.fairlead("rollout", "resume", id, ...args, "--json");

    test("SNAP-15: pauses with INTENT_EXPIRED before its next batch, and a bare resume changes nothing", async () => {
      expect((await reaches(lab(), id, "paused")).why?.code).toBe("INTENT_EXPIRED");
      expect((await resume()).code).toBe(0);
      const { counters, why } = await reaches(lab(), id, "paused");
      expect([why?.code, counters.pending]).toEqual(["INTENT_EXPIRED", 2]);
    });

    test("SNAP-15: refuses a new intent for other bytes, and goes on under one for the same", async () => {
      const other = await resume("--profile", PROFILE, "--checksum", `sha256:${"0".repeat(64)}`);
      expect(other.json()).toMatchObject({
        error: { code: "INTENT_MISMATCH", detail: { field: "fingerprint" } },
      });
      const again = await resume("--profile", PROFILE, "--checksum", v2.checksum);
      expect([again.code, again.json<RolloutView>().id]).toEqual([0, id]);
      await reaches(lab(), id, "completed");
      expect(await endingOf(lab(), id)).toEqual(completed(nodes));
    });
  });
}
