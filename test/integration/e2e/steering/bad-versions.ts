/**
 * New versions that do not hold what they promise, each on a node and a profile of its own, all at once. The node is
 * put back by itself, the rollout stops and says why.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes, type LabNode, type Said } from "../../../support/lab/node.ts";
import type { PublishOptions } from "../../../support/lab/origin.ts";
import { completed, endingOf, reaches, startRollout, type Ending } from "../../../support/lab/rollout.ts";
import { freePort } from "../../../support/programs/free-port.ts";

interface Case extends PublishOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The machine's operator lists no origin. */
  readonly noOrigin?: boolean;
  readonly healthWait?: string;
}

/** Lives for long enough to count as started. Three restarts need their pauses: half a second, one, two. */
const CRASHING = `#!/bin/sh
echo "$FAIRLEAD_INSTANCE_ID" >> "$COUNTER_FILE"
sleep 0.6
exit 7
`;

const CASES: Readonly<Record<string, Case>> = {
  unreachable: { env: { PORT: String(await freePort()) } },
  silent: { env: { HEALTH: "silent" } },
  degraded: { env: { HEALTH: "degraded" } },
  crashing: { program: CRASHING, healthWait: "9s" },
  dying: { program: "#!/bin/sh\nexit 7\n" },
  tampered: { served: "#!/bin/sh\nexec sleep 600\n" },
  foreign: { noOrigin: true },
};

export function badVersions(lab: () => Lab): void {
  describe("a new version that does not hold what it promises", () => {
    const nodes = new Map<string, LabNode>();
    const provisioned = new Map<string, Said>();
    const rollouts = new Map<string, string>();

    async function rollOut(
      profile: string,
      { env = {}, healthWait = "2s", ...bytes }: Case,
    ): Promise<string> {
      const to = lab().origin.publish("2.0.0", { as: profile, ...bytes });
      return startRollout(lab(), { profile, from: "1.0.0", to, env, healthWait });
    }

    beforeAll(async () => {
      const wanted = Object.entries(CASES);
      const options = wanted.map(([name, { noOrigin }]) => ({
        name,
        profile: name,
        ...(noOrigin === true ? { origins: [] } : {}),
      }));
      for (const node of await addRunningNodes(lab(), options)) {
        nodes.set(node.name, node);
        provisioned.set(node.name, await node.running());
      }
      const started = wanted.map(async ([name, each]) => [name, await rollOut(name, each)] as const);
      for (const [name, id] of await Promise.all(started)) rollouts.set(name, id);
    }, 240_000);

    const ending = (name: string): Promise<Ending> => endingOf(lab(), rollouts.get(name)!);

    async function expectPutBack(name: string, error: string): Promise<void> {
      const { status, why, nodes: byName } = await ending(name);
      expect([status, why]).toEqual(["paused", "THRESHOLD_EXCEEDED"]);
      expect(byName[name]).toMatch(new RegExp(`^failed ${error}: .*; the previous version is back$`));
      const { version, instance_id } = await nodes.get(name)!.running();
      expect(version).toBe("1.0.0");
      expect(instance_id).toMatch(new RegExp(`^${rollouts.get(name)}\\.reverse\\.1\\.`));
    }

    async function expectUntouched(name: string, error: string): Promise<void> {
      const { status, why, nodes: byName } = await ending(name);
      expect([status, why]).toEqual(["paused", "THRESHOLD_EXCEEDED"]);
      expect(byName[name]).toMatch(new RegExp(`^failed ${error}: acquire_artifact: `));
      expect(await nodes.get(name)!.running()).toEqual(provisioned.get(name));
    }

    async function expectOneStartEach(name: string): Promise<void> {
      const starts = await nodes.get(name)!.starts();
      expect(new Set(starts).size).toBe(starts.length);
    }

    test("ROLL-4: bytes that are not the signed ones are ARTIFACT_DIGEST_MISMATCH and the node is not touched", () =>
      expectUntouched("tampered", "ARTIFACT_DIGEST_MISMATCH"));

    test("ROLL-4: an origin that the machine's operator did not list is ORIGIN_NOT_ALLOWED and the node is not touched", () =>
      expectUntouched("foreign", "ORIGIN_NOT_ALLOWED"));

    test("ROLL-5: a program that ends at once is taken back by its own node", async () => {
      const { status, nodes: byName } = await ending("dying");
      expect(status).toBe("paused");
      expect(byName["dying"]).toMatch(/^failed PROGRAM_NOT_RUNNING: start_node: /);
      expect((await nodes.get("dying")!.running()).version).toBe("1.0.0");
      await expectOneStartEach("dying");
    });

    test("ROLL-15: a degraded program is tolerated and the rollout completes", async () => {
      expect(await ending("degraded")).toEqual(completed([{ name: "degraded" }]));
      expect((await lab().operator.node("degraded")).programs[0]).toMatchObject({
        application_health: "degraded",
      });
      expect((await nodes.get("degraded")!.running()).version).toBe("2.0.0");
    });

    test("ROLL-15: a program whose probe is refused is HEALTH_CRITICAL, and the previous version is put back", () =>
      expectPutBack("unreachable", "HEALTH_CRITICAL"));

    test("ROLL-15: a program that never answers its probe is HEALTH_CRITICAL, and the previous version is put back", () =>
      expectPutBack("silent", "HEALTH_CRITICAL"));

    test("ROLL-15: a program that crashes again and again is HEALTH_CRASH_LOOP, and the previous version is put back", async () => {
      await expectPutBack("crashing", "HEALTH_CRASH_LOOP");
      await expectOneStartEach("crashing");
    });

    test("ROLL-12: a last batch over the threshold pauses; resumed, the rollout ends failed", async () => {
      await ending("unreachable");
      const resumed = await lab().operator.fairlead("rollout", "resume", rollouts.get("unreachable")!);
      expect(resumed.code).toBe(0);
      expect(await reaches(lab(), rollouts.get("unreachable")!, "failed")).toMatchObject({
        why: { code: "NOTHING_UPGRADED" },
        counters: { failed: 1, succeeded: 0 },
      });
      const node = await eventually("the node is free again", async () => {
        const seen = await lab().operator.node("unreachable");
        return seen.state === "active" && seen;
      });
      expect(node.profiles[0]?.binary_version).toBe("1.0.0");
    });
  });
}
