/** A machine of the tests whose program is a unit on a real host. */
import {
  systemdAdapter,
  type SystemdAdapterDeps,
} from "../../../src/agent/upgrade/adapters/systemd/index.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { PROFILE } from "../programs/contract-machine.ts";
import { machine, type MachineParts } from "../programs/machine.ts";
import type { Place } from "../programs/runtimes.ts";
import type { Host } from "./host.ts";
import { unitOn, type UnitOptions } from "./unit.ts";

export interface SystemdMachineOptions extends UnitOptions {
  /** Another `systemctl`, or other limits. */
  readonly adapter?: (
    parts: MachineParts,
    place: NonNullable<Place["systemd"]>,
  ) => Partial<SystemdAdapterDeps>;
}

export async function systemdMachine(
  host: Host,
  { adapter = () => ({}), ...unit }: SystemdMachineOptions = {},
) {
  const runtime = (parts: MachineParts, place: Place): RuntimeAdapter => {
    const { program, stateDir, fs } = parts;
    if (program.runtime !== "systemd") throw new Error("not a unit");
    return systemdAdapter({
      profile: PROFILE,
      program,
      stateDir,
      clock: systemClock,
      settleMs: 200,
      ...(fs === undefined ? {} : { fs }),
      ...place.systemd!,
      ...adapter(parts, place.systemd!),
    });
  };
  const m = await machine(runtime, { parent: host.shared, surroundings: unitOn(host, unit) });
  const { program } = m;
  if (program.runtime !== "systemd") throw new Error("not a unit");
  return { ...m, program, unit: program.unit };
}

export type SystemdMachine = Awaited<ReturnType<typeof systemdMachine>>;
