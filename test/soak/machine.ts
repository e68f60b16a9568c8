/** One machine of a soak: a systemd host with a program, its agent, a clock of the agent's own and a small disk for its state. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../../src/host/file-errors.ts";
import { movedTime, type MovedTime } from "../support/clocks/moved-time.ts";
import { fillDisk } from "../support/hosts/disk.ts";
import type { Host } from "../support/hosts/host.ts";
import { addHostNode, type HostNode } from "../support/hosts/node.ts";
import { NODE_TYPE } from "../support/lab/agent-of-node.ts";
import { Said } from "../support/lab/node.ts";
import { freePort } from "../support/programs/free-port.ts";
import type { SoakSite } from "./site.ts";

export const PROFILE = "hello";
/** A new machine comes with the version of its image. */
export const IMAGE_VERSION = "1.0.0";
export const DISK_BYTES = 8 * 1024 * 1024;

const LOG_LINES = 2_000;
const CLOCK_FILE = "/etc/fairlead/clock";

export type Machine = Awaited<ReturnType<typeof addMachine>>;

export async function addMachine(site: SoakSite, host: Host, name: string) {
  const port = await freePort();
  const dataDir = join(host.shared, "agent");
  const ballast = join(host.shared, "ballast");
  let node: HostNode;
  let clock: MovedTime;

  async function token(): Promise<string> {
    const file = join(site.lab.folder, `${name}.token`);
    await rm(file, { force: true });
    const as = ["--name", name, "--profile", PROFILE, "--type", NODE_TYPE];
    await site.operator.change("node", "token", ...as, "--out", file);
    return readFile(file, "utf8");
  }

  /** Everything that an operator puts on a machine before its agent starts. */
  async function provision(): Promise<void> {
    const file = join(host.root, CLOCK_FILE);
    await mkdir(join(file, ".."), { recursive: true });
    clock = await movedTime(file);
    await clock.move(site.offsetSeconds());
    const env = { ...clock.env, FAKETIME_TIMESTAMP_FILE: CLOCK_FILE };
    const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    node = await addHostNode(site.lab, host, {
      name,
      profile: PROFILE,
      version: IMAGE_VERSION,
      port,
      dataDir,
      token: await token(),
      agentService: [`Environment=${variables.join(" ")}`],
    });
  }

  await provision();
  await node!.startAgent();

  return {
    name,
    host,
    /** The clock of its agent is wrong by so much; 0: it shows the site's time. */
    shiftClock: (seconds: number) => clock.move(site.offsetSeconds() + seconds),
    restartAgent: () => node.restartAgent(),
    killAgent: () => node.killAgent(),
    /** Another machine under its name. The operator revoked the one before. */
    async replace(): Promise<void> {
      await host.replace();
      await provision();
      await host.boot();
      await node.startAgent();
    },
    /** With a new token, as a revoked machine does. */
    async enrollAgain(): Promise<void> {
      await writeFile(node.tokenFile, await token(), { mode: 0o600 });
      await node.restartAgent();
    },
    fillDisk: () => fillDisk(ballast),
    freeDisk: () => rm(ballast, { force: true }),
    /** Whether its agent has an upgrade under way, also one that waits for its next start. */
    async isAtWork(): Promise<boolean> {
      const files = await readdir(join(dataDir, "state/upgrades/active")).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      return files.length > 0;
    },
    /** The program's own answer. */
    async answers(): Promise<string> {
      const asked = await fetch(`http://127.0.0.1:${port}/version`);
      return Said.parse(await asked.json()).version;
    },
    installed: () => node.installed(),
    starts: () => node.starts(),
    log: () => node.agentLog(LOG_LINES),
  };
}
