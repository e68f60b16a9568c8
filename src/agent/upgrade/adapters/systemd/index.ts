/**
 * The `systemd` runtime: one program file, started and kept alive by a unit that the machine's operator wrote (ROLL-8).
 * Fairlead replaces the file, adds drop-ins to the unit, and asks systemd; the unit file itself it never touches.
 */
import { join } from "node:path";
import { FairleadError } from "../../../../core/errors.ts";
import type { ProfileId } from "../../../../core/ids.ts";
import type { Clock } from "../../../../host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../../host/file-system-port.ts";
import type { Logger } from "../../../../host/log.ts";
import type { SystemdProgram } from "../../../programs/config.ts";
import type { RuntimeAdapter } from "../../port.ts";
import { artifactFiles } from "../files/artifact-files.ts";
import { configFiles } from "../files/config-files.ts";
import { stateBackup } from "../files/state-backup.ts";
import { dropInFiles } from "./drop-in-files.ts";
import { executedBytes, isScript } from "./executed.ts";
import { observer } from "./observe.ts";
import { expectAdoptable } from "./provisioned.ts";
import { writeStarted } from "./started.ts";
import { type Systemctl, systemctl, type SystemctlLimits } from "./systemctl.ts";
import { unitControl } from "./unit.ts";

export interface SystemdAdapterDeps {
  readonly profile: ProfileId;
  readonly program: SystemdProgram;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log?: Pick<Logger, "warn"> | undefined;
  readonly fs?: FileSystemPort;
  /** What runs `systemctl`. */
  readonly command?: readonly [string, ...string[]];
  readonly limits?: SystemctlLimits;
  /** In place of the above, for sweeps that would start thousands of programs. */
  readonly systemd?: Systemctl;
  /** Where drop-ins go: kept over a reboot, as the program's file is. */
  readonly systemdDir?: string;
  readonly procDir?: string;
  readonly settleMs?: number;
}

const SETTLE_MS = 1_000;

export function systemdAdapter({
  profile,
  program,
  stateDir,
  clock,
  log,
  fs = nodeFileSystem,
  command = ["systemctl"],
  limits,
  systemd = systemctl(command, program.unit, limits),
  systemdDir = "/etc/systemd/system",
  procDir = "/proc",
  settleMs = SETTLE_MS,
}: SystemdAdapterDeps): RuntimeAdapter {
  const folder = join(stateDir, "programs", profile);
  const dropIns = dropInFiles(program, systemdDir, fs);
  const saved = stateBackup({ program, fs, clock, log, beside: { "drop-in": dropIns.runPath } });
  const executed = executedBytes({ procDir, installPath: program.install_path, fs });
  const unit = unitControl({ folder, program, dropIns, systemd, clock, settleMs, fs });
  const observe = observer({ folder, dropIns, look: unit.look, executed, fs });
  const files = artifactFiles({ program, fs, saved });
  return {
    ...files,
    ...configFiles({ program, fs, saved, owner: "unit" }),
    async backup(request, signal) {
      const launch = await dropIns.launch();
      const state = await unit.look();
      if (launch === undefined) expectAdoptable(program, state);
      return saved.save(
        request,
        { ran: state.active && state.pid > 0, run: launch?.run ?? program.run },
        signal,
      );
    },
    readBackup: saved.read,
    async restore(ref, signal) {
      await files.restore(ref, signal);
      await saved.restoreBeside(ref, "drop-in", signal);
    },
    reload: systemd.daemonReload,
    async start(request, signal) {
      const { instance_id } = await unit.start(request, signal);
      const state = await unit.look();
      const fingerprint = await executed(state, undefined);
      if (fingerprint !== request.fingerprint)
        throw new FairleadError(
          "ARTIFACT_DIGEST_MISMATCH",
          `${program.unit} runs ${fingerprint ?? "other bytes"}`,
        );
      const script = await isScript(program.install_path, fs);
      await writeStarted(folder, { instance_id, invocation_id: state.invocation, fingerprint, script }, fs);
    },
    stop: unit.stop,
    isRunning: async () => (await unit.look()).active,
    isSupervised: async () => (await unit.look()).active,
    running: async () => (await observe()).running,
    supervision: observe,
  };
}
