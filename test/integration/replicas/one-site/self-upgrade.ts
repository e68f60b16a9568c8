/** Fairlead itself is replaced by a newer build while a canary waits for its approval (ROLL-22). */
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/lab/eventually.ts";
import { writeManifest } from "../../../support/lab/manifest.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import { killHard } from "../../../support/lab/processes.ts";
import { completed, endingOf, reaches, runCreate } from "../../../support/lab/rollout.ts";
import { NEWER_TABLE, NEWER_VERSION, newerBuild } from "../../../support/replicas/newer-build.ts";
import { expectOnce } from "../../../support/replicas/upgrade.ts";
import type { Shared } from "../../../support/replicas/shared.ts";

const BREAKING = { migration_type: "breaking", recovery_plan: "restore the state from last night" };

export function selfUpgrade(shared: () => Shared): void {
  describe("Fairlead replaced by a newer build while a canary waits", () => {
    let id: string;
    let to: ReturnType<Shared["site"]["origin"]["publish"]>;

    beforeAll(async () => {
      const { site, upgrades } = shared();
      to = site.origin.publish(upgrades.next());
      const manifest = await writeManifest(site, { id: "breaking", to, stateCompatibility: BREAKING });
      const what = ["--manifest", manifest, "--type", NODE_TYPE, "--source-version", upgrades.now()];
      const how = ["--strategy", "canary", "--batch-size", "2", "--health-wait", "100ms"];
      id = await runCreate(site, [
        "rollout",
        "create",
        ...what,
        ...how,
        "--acknowledge-state-risk",
        "--start",
      ]);
      const waiting = await reaches(site, id, "paused");
      expect(waiting.why?.code).toBe("CANARY_APPROVAL");
    }, 100_000);

    test("ROLL-22: server by server, both builds side by side; then the approval goes through and the rollout completes", async () => {
      const { site, nodes } = shared();
      const [before] = await site.restate.deployments();
      const command = await newerBuild(site.folder);
      const [first, ...rest] = site.replicas;
      await first!.stop();
      await first!.start({ command, handlersPort: site.nextHandlersPort });
      await eventually("the newer build is registered beside the older one", async () => {
        const builds = (await site.restate.deployments()).map(({ build }) => build);
        return builds.includes(NEWER_VERSION) && builds.length === 2;
      });
      // The newer build dies at once: the older one takes the work back, and gives it up when the newer one returns.
      await killHard(first!.process());
      await eventually("the older build has the work again", async () => {
        const builds = (await site.restate.deployments()).map(({ build }) => build);
        return builds.length === 1 && builds[0] !== NEWER_VERSION;
      });
      for (const replica of rest) await replica.ready();
      await first!.start({ command, handlersPort: site.nextHandlersPort });
      await eventually("the newer build is registered again", async () =>
        (await site.restate.deployments()).some(({ build }) => build === NEWER_VERSION),
      );
      // A server of the older build that starts now leaves the newer one its place.
      await rest[0]!.stop();
      await rest[0]!.start();
      await rest[0]!.ready();
      for (const replica of rest) {
        await replica.stop();
        await replica.start({ command, handlersPort: site.nextHandlersPort });
      }
      for (const replica of site.replicas) await replica.ready();
      expect(await site.db`select 1 from pg_tables where tablename = ${NEWER_TABLE}`).toHaveLength(1);
      const still = await site.operator.rollout(id);
      expect([still.status, still.why?.code]).toEqual(["paused", "CANARY_APPROVAL"]);

      const approved = await site.operator.fairlead(
        "rollout",
        "approve-canary",
        id,
        "--reason",
        "looks good",
      );
      expect([approved.code, approved.err]).toEqual([0, ""]);
      await reaches(site, id, "completed");
      expect(await endingOf(site, id)).toEqual(completed(nodes));
      await expectOnce(site, id, nodes, to.version);

      await eventually("the older build's handlers are taken out", async () => {
        const known = await site.restate.deployments();
        return known.every(({ id: each }) => each !== before!.id) && known.length === 1;
      });
    }, 200_000);
  });
}
