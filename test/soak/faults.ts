/** The faults of a day, and the remedy of each: what its operator, or the machine's, does about it. */
import { eventually } from "../support/lab/eventually.ts";
import type { Machine } from "./machine.ts";
import type { Fault } from "./plan.ts";
import type { SoakSite } from "./site.ts";

export interface Scene {
  readonly site: SoakSite;
  readonly machines: readonly Machine[];
}

export type Remedy = () => Promise<void>;

/** Strikes; the remedy is for the caller, at once or later. */
export async function strike(scene: Scene, fault: Fault): Promise<Remedy> {
  const { site } = scene;
  const machine = scene.machines[fault.host]!;
  switch (fault.kind) {
    case "reboot":
      await machine.host.shutDown();
      return () => machine.host.boot();
    case "power_cut":
      await machine.host.cutPower();
      return () => machine.host.boot();
    case "replaced":
      await machine.host.cutPower();
      return async () => {
        await site.operator.signal("the machine burned down", "node", "revoke", machine.name);
        await machine.replace();
      };
    case "enrolled_again":
      await site.operator.signal("its disk was in foreign hands", "node", "revoke", machine.name);
      return () => machine.enrollAgain();
    case "full_disk":
      await machine.fillDisk();
      if (fault.moment === "before") await machine.restartAgent();
      return () => machine.freeDisk();
    case "outage":
      return outage(scene, machine, fault);
    case "engines_killed":
      await site.lab.killEngines();
      return async () => {
        await site.lab.startEnginesAgain();
        await site.isReady();
      };
    case "agent_killed":
      await machine.killAgent();
      return async () => undefined; // systemd starts the next one
    case "server_clock":
      await site.shiftServer(fault.seconds);
      await eventually("the server stops signing, and says so", async () => {
        const open = await site.operator.openIncidents();
        const isTold = open.some(({ category }) => category === "clock_disagrees");
        return isTold && (await site.lab.reasons()).includes("CLOCK_DISAGREES");
      });
      return async () => {
        await site.shiftServer(0);
        await site.isReady();
      };
    case "agent_clock":
      await machine.shiftClock(fault.seconds);
      await machine.restartAgent();
      return () => machine.shiftClock(0);
  }
}

/**
 * The control plane is away, and time passes for everyone. Nodes at work go on alone: by a late remedy the time passes
 * while they still work. A host that loses its power meanwhile comes up with its program.
 */
async function outage(scene: Scene, machine: Machine, { seconds, isLate }: Fault): Promise<Remedy> {
  const { site, machines } = scene;
  await site.endServer(isLate ? "kill" : "stop");
  const pass = async (): Promise<void> => {
    await site.pass(seconds);
    for (const each of machines) await each.shiftClock(0);
  };
  if (isLate) await pass();
  site.lab.origin.release();
  await eventually("no agent is at work", async () => {
    const busy = await Promise.all(machines.map(async (each) => each.host.isOn() && each.isAtWork()));
    return !busy.includes(true);
  });
  if (!isLate) await pass();
  if (machine.host.isOn()) {
    await machine.host.cutPower();
    await machine.host.boot();
    await eventually(`the program of ${machine.name} comes up alone`, () => machine.answers());
  }
  return async () => {
    await site.lab.startServerAgain();
    await site.isReady();
  };
}
