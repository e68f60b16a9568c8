/**
 * Every moment of an upgrade at which the power may be cut, on a disk that forgets what was not synced. What such a
 * disk can hold is put on a real host, whose systemd then starts the unit as it would at boot, before any agent is
 * there: it runs the old version whole, or the new one whole, or nothing. Then the agent comes and ends what it began.
 */
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemdAdapter } from "../../../src/agent/upgrade/adapters/systemd/index.ts";
import type { RuntimeAdapter, StartRequest } from "../../../src/agent/upgrade/port.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { type Disk, powerCutFileSystem } from "../../support/host/power-cut-file-system.ts";
import type { Host } from "../../support/hosts/host.ts";
import { type Hosts, startHosts } from "../../support/hosts/hosts.ts";
import { systemdMachine, type SystemdMachine } from "../../support/hosts/systemd-machine.ts";
import { PROFILE } from "../../support/programs/contract-machine.ts";
import { around } from "../../support/programs/failing-adapter.ts";
import { fakeUnit, pretended } from "../../support/programs/fake-systemd.ts";

const BEFORE = { "app.toml": "level = 1\n" };
const AFTER = { "app.toml": "level = 2\n", "peers.toml": "new\n" };

let hosts: Hosts;
let host: Host;
let m: SystemdMachine;
beforeAll(async () => {
  hosts = await startHosts({ count: 1 });
  [host] = hosts.all as [Host];
});
afterAll(async () => hosts.stop());
beforeEach(async () => {
  m = await systemdMachine(host);
  await m.provision("1.0.0", BEFORE);
});
afterEach(async () => m.close());

const dropIns = (): string => join(m.place.systemd!.systemdDir, `${m.unit}.d`);
/** Where an upgrade changes anything. */
const places = (): string[] => [
  ...["bin", "config", "state", "data"].map((name) => join(m.root, name)),
  dropIns(),
];

const checkpoint = (): string => join(m.stateDir, "upgrades", "active", `${PROFILE}.json`);

async function diskNow(): Promise<Disk> {
  const disk = new Map<string, Buffer>();
  for (const place of places()) {
    for (const name of await readdir(place, { recursive: true })) {
      const path = join(place, name);
      if ((await stat(path)).isFile()) disk.set(path, await readFile(path));
    }
  }
  return disk;
}

const modeOf = (path: string): number =>
  path.startsWith(dirname(m.program.install_path)) ? 0o755 : path.startsWith(m.stateDir) ? 0o600 : 0o644;

async function putOnHost(disk: Disk): Promise<void> {
  await host.exec("systemctl", "stop", m.unit);
  for (const place of places()) await rm(place, { recursive: true, force: true });
  for (const place of places()) await mkdir(place, { recursive: true });
  for (const [path, bytes] of disk) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    await chmod(path, modeOf(path));
  }
  await host.exec("systemctl", "daemon-reload");
  await host.exec("systemctl", "reset-failed", m.unit);
}

/** Runs the job on the forgetful disk, with a pretended systemd; the files are where the real ones are. */
async function record(job: UpgradeJob, first: Disk, wrap: (adapter: RuntimeAdapter) => RuntimeAdapter) {
  const fs = powerCutFileSystem(first, modeOf);
  const world = { ...fakeUnit(), active: true, startedAtMs: Date.now() };
  const readRun = async (): Promise<string> => {
    const file = await fs.open(join(dropIns(), "50-fairlead.conf"), 0);
    return (await file.read(1024 * 1024)).toString("utf8");
  };
  const { program, stateDir } = m;
  const common = { profile: PROFILE, program, stateDir, clock: systemClock, settleMs: 0, fs };
  const { systemdDir } = m.place.systemd!;
  const adapter = systemdAdapter({ ...common, systemdDir, systemd: pretended(world, program, readRun) });
  const outcome = await m.upgrade(job, { fs, adapter: wrap(adapter) });
  return { outcome, disks: fs.moments.flatMap(({ strict, hasty }) => [strict, hasty]) };
}

/** What systemd and the program read. */
const visible = (disk: Disk): [string, Buffer][] =>
  [...disk].filter(([path]) => !/\/\.fairlead-[0-9a-f]+\.tmp$|\/\.download-/.test(path) && !isOurs(path));
const isOurs = (path: string): boolean =>
  path.startsWith(`${m.stateDir}/`) || path.includes("/.upgrade-backup/");

/** Of each state that systemd could tell from the others, the first and the last disk that is in it. */
function distinct(disks: readonly Disk[]): Disk[] {
  const groups = new Map<string, Disk[]>();
  for (const disk of disks) {
    const key = visible(disk)
      .map(([path, bytes]) => `${path} ${digestOf(bytes)}`)
      .toSorted()
      .join("\n");
    groups.set(key, [...(groups.get(key) ?? []), disk]);
  }
  return [...groups.values()].flatMap((group) => [...new Set([group[0]!, group.at(-1)!])]);
}

/** What a boot would start by itself. */
async function bootedVersion(): Promise<"nothing" | { version: string; configs: Record<string, string> }> {
  await host.exec("systemctl", "start", m.unit);
  if (!(await m.adapter().isRunning())) return "nothing";
  return { version: (await m.version()).version, configs: await m.configs() };
}

const OLD = { version: "1.0.0", configs: BEFORE };
const NEW = { version: "2.0.0", configs: AFTER };

const failingNew = (adapter: RuntimeAdapter, job: UpgradeJob): RuntimeAdapter =>
  around(adapter, "start", async (work, [request]) => {
    await work();
    if ((request as StartRequest).fingerprint === job.artifact.fingerprint) throw new Error("did it start?");
  });

describe("a power cut at any moment", () => {
  it("ROLL-6: of an upgrade leaves the old version, the new one, or nothing running; then the new one", async () => {
    const job = m.job({ version: "2.0.0", configs: AFTER });
    const { outcome, disks } = await record(job, await diskNow(), (adapter) => adapter);
    expect(outcome).toMatchObject({ verdict: "COMPLETED" });
    expect(disks.length).toBeGreaterThan(200);
    const replayed = distinct(disks);
    expect(replayed.length).toBeGreaterThan(8);
    for (const disk of replayed) {
      await putOnHost(disk);
      expect(["nothing", OLD, NEW]).toContainEqual(await bootedVersion());
      expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED", error: null });
      expect({ version: (await m.version()).version, configs: await m.configs() }).toEqual(NEW);
      expect(await m.installed()).toBe(job.artifact.fingerprint);
      expect(await readdir(dropIns())).toEqual(["50-fairlead.conf"]);
    }
  }, 300_000);

  it("ROLL-5: of the way back leaves the old version, the new one, or nothing running; then the old one", async () => {
    const installed = await m.installed();
    const job = m.job({ version: "2.0.0", configs: AFTER });
    const { outcome, disks } = await record(job, await diskNow(), (adapter) => failingNew(adapter, job));
    expect(outcome).toMatchObject({ verdict: "FAILED", compensated: true });
    const back = disks.filter((disk) => disk.get(checkpoint())?.includes("did it start?") === true);
    const replayed = distinct(back);
    expect(replayed.length).toBeGreaterThan(6);
    for (const disk of replayed) {
      await putOnHost(disk);
      expect(["nothing", OLD, NEW]).toContainEqual(await bootedVersion());
      const ended = await m.upgrade(job, { adapter: failingNew(m.adapter(), job) });
      expect(ended).toMatchObject({ verdict: "FAILED", compensated: true });
      expect({ version: (await m.version()).version, configs: await m.configs() }).toEqual(OLD);
      expect(await m.installed()).toBe(installed);
      expect(await readdir(dropIns())).toEqual(["50-fairlead.conf"]);
    }
  }, 300_000);
});
