/** Programs in containers, from the operator's command to a real engine and back: the shipped agent, nothing replaced. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProcessIdentity, stopProcess } from "../../../../src/host/process-identity.ts";
import { type HelloImages, helloImages } from "../../../support/docker/hello-images.ts";
import { REPOSITORY } from "../../../support/docker/images.ts";
import { type DockerLab, dockerLab } from "../../../support/docker/lab.ts";
import { type DockerMachine, dockerMachine } from "../../../support/docker/machine.ts";
import { addAgent } from "../../../support/lab/agent-of-node.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import type { Published } from "../../../support/lab/origin.ts";
import { completed, endingOf, reaches, startRollout } from "../../../support/lab/rollout.ts";

const PROFILE = "contained";

export function containers(lab: () => Lab): void {
  describe("programs in containers", () => {
    let docker: DockerLab;
    let images: HelloImages;
    const machines = new Map<string, DockerMachine>();
    const agents: ProcessIdentity[] = [];

    beforeAll(async () => {
      docker = await dockerLab();
      images = await helloImages(docker);
      for (const name of ["box-1", "box-2"]) {
        const machine = await dockerMachine(docker, images);
        machines.set(name, machine);
        await machine.provision("1.0.0");
        const program = { ...machine.program, run: {}, version: "1.0.0" }; // its environment is the container's own
        const agent = await addAgent(lab(), { name, profile: PROFILE, program });
        agents.push(await agent.startAgent());
        await agent.reported();
      }
    }, 240_000);
    afterAll(async () => {
      for (const agent of agents) await stopProcess(agent, { graceMs: 5_000 });
      for (const machine of machines.values()) await machine.close();
      await docker.close();
    }, 120_000);

    const said = () => [...machines].map(async ([name, machine]) => [name, await machine.version()] as const);
    const nodes = () => [...machines.keys()].map((name) => ({ name }));

    const image = (version: string, tag = version): Published => {
      const checksum = images.digestOf(tag);
      return { version, url: `${REPOSITORY}@${checksum}`, checksum };
    };

    const expectRunning = async (version: string, instance: RegExp): Promise<void> => {
      for (const machine of machines.values()) {
        const said = await machine.version();
        expect([said.version, await machine.installed()]).toEqual([version, images.digestOf(version)]);
        expect(said.instance_id).toMatch(instance);
      }
    };

    test("ROLL-4, ROLL-14: a rollout puts containers of the signed image in place of the old ones, and its rollback the old image again", async () => {
      const options = { profile: PROFILE, from: "1.0.0", to: image("2.0.0"), batchSize: 1, healthWait: "1s" };
      const rollout = await startRollout(lab(), options);
      expect(await endingOf(lab(), rollout)).toEqual(completed(nodes()));
      await expectRunning("2.0.0", new RegExp(`^${rollout}\\.forward\\.1\\.`));

      const asked = await lab().operator.fairlead("rollout", "rollback", rollout, "--reason", "not wanted");
      expect(asked.code).toBe(0);
      await reaches(lab(), rollout, "rolled_back");
      await expectRunning("1.0.0", new RegExp(`^${rollout}\\.reverse\\.1\\.`));
    });

    test("ROLL-5: an image that ends at once is taken back by its own node, and the next node is not touched", async () => {
      const before = new Map(await Promise.all(said()));
      const to = image("2.0.0", "crashing");
      const rollout = await startRollout(lab(), { profile: PROFILE, from: "1.0.0", to, batchSize: 1 });
      const { status, why, nodes: byName } = await endingOf(lab(), rollout);
      expect([status, why]).toEqual(["paused", "THRESHOLD_EXCEEDED"]);
      const [first, second] = Object.keys(byName).toSorted((left) => (byName[left] === "pending" ? 1 : -1));
      expect(byName[first!]).toBe(
        "failed PROGRAM_NOT_RUNNING: start_node: the program ended at once (code 7)",
      );
      expect(byName[second!]).toBe("pending");
      await expectRunning("1.0.0", /./);
      expect(await machines.get(second!)!.version()).toEqual(before.get(second!));
    });
  });
}
