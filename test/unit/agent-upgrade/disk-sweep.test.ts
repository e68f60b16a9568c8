/**
 * ENOSPC and EIO at every write of ledger, outbox, checkpoint, verdict and files, followed by later upgrades and restarts.
 *
 * 1. The machine is never at a version that no authorised job led to, and never goes back by itself.
 * 2. Once the reports have arrived, the server's row is what runs.
 * 3. No fault leaves a machine on which the next upgrade cannot be run.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { artifactServer, type ArtifactServer } from "../../support/programs/artifact-server.ts";
import { commandedMachine, type CommandedMachine } from "../../support/programs/commanded-machine.ts";
import { systemError, trippingFileSystem, type Trap } from "../../support/programs/tripping-file-system.ts";

let server: ArtifactServer;
beforeAll(async () => {
  server = await artifactServer();
});
afterAll(async () => server.close());

interface Fault {
  readonly trap: Trap;
  /** Changes are counted from here on. */
  arm(): void;
  /** The disk is whole again. */
  heal(): void;
  hit(): boolean;
}

function faultOf(errno: string, strikes: (n: number, operation: string) => boolean): Fault {
  let [armed, hit, changes] = [false, false, 0];
  return {
    trap: (operation) => {
      if (!armed || !strikes(changes++, operation)) return;
      hit = true;
      throw systemError(errno);
    },
    arm: () => void (armed = true),
    heal: () => void (armed = false),
    hit: () => hit,
  };
}

const FAULTS: Readonly<Record<string, (index: number) => Fault>> = {
  // Bytes are refused; names can be removed and moved.
  "a disk that is full": (index) =>
    faultOf("ENOSPC", (n, operation) => n >= index && operation.startsWith("write ")),
  "one failed change": (index) => faultOf("EIO", (n) => n === index),
  "a disk that is dead": (index) => faultOf("EIO", (n) => n >= index),
};

type Story = (c: CommandedMachine, heal: () => void) => Promise<void>;

/** Each begins after the upgrade to 2.0.0 that the fault struck. */
const STORIES: Readonly<Record<string, Story>> = {
  "a restart, with the disk whole again": async (c, heal) => {
    heal();
    await c.restart({ reboot: true });
  },
  "a restart on the faulty disk, then one on a whole one": async (c, heal) => {
    await c.restart({ reboot: true }).catch(() => undefined); // an agent that cannot start is started again
    heal();
    await c.restart({ reboot: true });
  },
  "a newer upgrade without a restart, then a restart": async (c, heal) => {
    heal();
    await c.launch({ version: "3.0.0" });
    await c.idle();
    await c.restart({ reboot: true });
  },
};

/** The three stories of a fault begin a third of it apart. 3 strikes every change; CI strikes every third. */
const STRIDE = Number(process.env["FAIRLEAD_SWEEP_STRIDE"] ?? 9);

async function sweep(faultAt: (index: number) => Fault, story: Story, from: number): Promise<number> {
  let struck = 0;
  for (let index = from; ; index += STRIDE) {
    const c = await commandedMachine({ server });
    try {
      const fault = faultAt(index);
      await c.replaceDisk(trippingFileSystem(fault.trap));
      fault.arm();
      await c.launch({ version: "2.0.0" }).catch(() => undefined);
      await c.idle();
      await story(c, fault.heal);
      const where = `change ${index}: verdicts ${JSON.stringify([...c.row.verdicts.values()])}`;
      if (!fault.hit()) return struck;
      struck += 1;
      if (c.said("FAILED_ROLLBACK")) {
        // A person is asked for. A whole version may run, never a mixture.
        expect([null, await c.installed()], where).toContain(c.running());
        continue;
      }
      expect([c.running(), await c.installed()], where).toEqual([c.row.version, c.row.version]); // (1) (2)
      await c.launch({ version: "3.0.0" });
      await c.idle();
      await c.restart({ reboot: true });
      expect([c.running(), await c.installed(), c.row.version], where).toEqual(["3.0.0", "3.0.0", "3.0.0"]); // (3)
    } finally {
      await c.close();
    }
  }
}

test.each(
  Object.entries(FAULTS).flatMap(([fault, faultAt]) =>
    Object.entries(STORIES).map(
      ([name, story], index) => [fault, name, faultAt, story, index * (STRIDE / 3)] as const,
    ),
  ),
)(
  "SNAP-16 ROLL-6: after %s during an upgrade and %s, the machine runs what the server's row says",
  async (_fault, _name, faultAt, story, from) => {
    expect(await sweep(faultAt, story, from)).toBeGreaterThan(5);
  },
  120_000,
);
