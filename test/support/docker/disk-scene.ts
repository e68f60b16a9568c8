/** A docker program on a disk in memory that can fail: the engine is pretended, all files are the agent's own. */
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import { powerCutFileSystem } from "../host/power-cut-file-system.ts";
import { never, PROFILE } from "../programs/contract-machine.ts";
import { type Trap, trippingFileSystem } from "../programs/tripping-file-system.ts";
import { pretendedDocker } from "./pretended-machine.ts";

export const BEFORE = { "app.toml": "level = 1\n" };
export const AFTER = { "app.toml": "level = 2\n", "peers/list.toml": "new\n" };

/** Runs in its first version. */
export async function diskScene() {
  const m = pretendedDocker("/machine");
  await m.provision("1.0.0");
  const folder = `${m.program.config_dir}/`;
  const first = Object.entries(BEFORE).map(([name, text]) => [folder + name, Buffer.from(text)] as const);
  const disk = powerCutFileSystem(new Map(first), (path) => (path.startsWith(folder) ? 0o640 : 0o600));
  const job = m.job({ version: "2.0.0", configs: AFTER });
  const adapter = m.adapter(disk);
  const stateOf = async () => {
    const files = [...(disk.moments.at(-1)?.hasty ?? first)].filter(([path]) => path.startsWith(folder));
    return {
      installed: await adapter.measure(),
      runs: (await adapter.running())?.fingerprint ?? null,
      configs: Object.fromEntries(
        files.map(([path, bytes]) => [path.slice(folder.length), bytes.toString()]),
      ),
    };
  };
  const ensure = async () => {
    const { program, stateDir } = m;
    return (await ensureRunning({ profile: PROFILE, program, adapter, stateDir, signal: never(), fs: disk }))
      .kind;
  };
  const whole = (version: string, configs: object) => {
    const fingerprint = m.imageOf(version);
    return { installed: fingerprint, runs: fingerprint, configs };
  };
  return {
    m,
    disk,
    job,
    adapter,
    stateOf,
    ensure,
    old: whole("1.0.0", BEFORE),
    new: whole("2.0.0", AFTER),
    whole,
  };
}
export type DiskScene = Awaited<ReturnType<typeof diskScene>>;

/** The upgrade, with a trap at the changes to the disk. */
export async function runTrapped({ m, disk, job }: DiskScene, trap: Trap) {
  let reached = -1;
  const fs = trippingFileSystem(async (operation, index) => {
    reached = index;
    await trap(operation, index);
  }, disk);
  const outcome = await m.upgrade(job, { fs, adapter: m.adapter(fs) });
  return { outcome, reached };
}
