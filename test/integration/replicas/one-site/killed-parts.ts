/** Any part of a site of replicas dies or hangs in the middle of a batch (USE-5): the rollouts go on and complete. */
import { describe, expect, test } from "vitest";
import { readIdentity } from "../../../../src/agent/identity/store.ts";
import { openLink } from "../../../../src/agent/link/link.ts";
import { killProcess } from "../../../../src/host/process-identity.ts";
import { addRunningNodes } from "../../../support/lab/node.ts";
import { killHard } from "../../../support/lab/processes.ts";
import type { Shared } from "../../../support/replicas/shared.ts";

const LIMIT_MS = 150_000;
const EACH = [1, 2, 3];

export function killedParts(shared: () => Shared): void {
  describe("a part of the site killed in the middle of a batch", () => {
    // Of three servers one drives, of three nodes one leads: each is killed once.
    test.each(EACH)(
      "USE-5: server %i SIGKILLed in one batch and a Restate node in the next: the rollout completes, nothing twice",
      async (number) => {
        const { site, upgrades } = shared();
        const replica = site.replicas[number - 1]!;
        await upgrades.through(
          async () => killHard(replica.process()),
          async () => site.restate.kill(number - 1),
        );
        await Promise.all([replica.start(), site.restate.startAgain(number - 1)]);
      },
      LIMIT_MS,
    );

    test(
      "USE-5: PostgreSQL SIGKILLed and started again: no server dies with it, and the rollout completes",
      async () => {
        const { site, upgrades } = shared();
        const before = site.replicas.map((replica) => replica.process());
        await upgrades.through(async () => {
          await site.postgres.kill();
          await site.postgres.startAgain();
        });
        for (const replica of site.replicas) await replica.ready();
        expect(site.replicas.map((replica) => replica.process())).toEqual(before);
      },
      LIMIT_MS,
    );

    test(
      "USE-5: a server that hangs is left by Restate and by its agents: the rollout completes without it",
      async () => {
        const { site, upgrades } = shared();
        const [hung] = site.replicas;
        try {
          await upgrades.through(async () => void killProcess(hung!.process(), "SIGSTOP"));
        } finally {
          killProcess(hung!.process(), "SIGCONT");
        }
        await hung!.ready();
      },
      LIMIT_MS,
    );

    test(
      "USE-5: two servers SIGKILLed: agents find the third by themselves, and a revocation waits for no dead one",
      async () => {
        const { site, upgrades } = shared();
        const [dead, living] = [site.replicas.slice(0, 2), site.replicas[2]!];
        const [gone] = await addRunningNodes(site, [{ name: "gone", profile: "elsewhere" }]);
        await upgrades.through(async () => {
          await Promise.all(dead.map(async (replica) => killHard(replica.process())));
        });
        const revoked = await site.operator.fairlead("node", "revoke", "gone", "--reason", "sold");
        expect([revoked.code, revoked.err]).toEqual([0, ""]);
        const identity = await readIdentity(gone!.dataDir);
        const link = openLink(identity!, () => [living.agentUrl]);
        await expect(link.renew("")).rejects.toMatchObject({ code: "NODE_REVOKED" });
        link.close();
        await Promise.all(dead.map(async (replica) => replica.start()));
      },
      LIMIT_MS,
    );
  });
}
