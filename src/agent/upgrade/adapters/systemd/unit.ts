/**
 * Starting and stopping a program through its unit.
 *
 * 1. What is wanted is on disk before systemd is told. While the program is stopped by us, systemd does not start it
 *    by itself either: its files may be half of one version and half of another.
 * 2. An instance id is claimed before it is written anywhere, so none is started twice.
 * 3. `start` after a crash joins a start that took effect instead of making another. One that a killed agent's
 *    systemctl still brings about is stopped: it may have read the drop-in of before.
 * 4. `stop` returns when systemd says that nothing is left, and kills what ignores the grace.
 */
import { isDeepStrictEqual } from "node:util";
import { FairleadError } from "../../../../core/errors.ts";
import { type Clock, sleep } from "../../../../host/clock.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import type { SystemdProgram } from "../../../programs/config.ts";
import { claimInstance } from "../../../shim/instance.ts";
import type { StartRequest } from "../../port.ts";
import { hashFileIfThere } from "../files/hash.ts";
import type { DropInFiles } from "./drop-in-files.ts";
import type { Launch } from "./drop-in.ts";
import { expectAdoptable } from "./provisioned.ts";
import { settled } from "./settle.ts";
import type { Systemctl } from "./systemctl.ts";
import type { UnitState } from "./unit-state.ts";

export interface UnitDeps {
  /** This program's folder under the agent's state. */
  readonly folder: string;
  readonly program: SystemdProgram;
  readonly dropIns: DropInFiles;
  readonly systemd: Systemctl;
  readonly clock: Clock;
  readonly settleMs: number;
  readonly fs: FileSystemPort;
}

const STOP_MARGIN_MS = 2_000;
const KILL_WAIT_MS = 5_000;
const POLL_MS = 50;

export function unitControl(deps: UnitDeps) {
  const { folder, program, dropIns, systemd, clock, fs } = deps;

  /** Throws unless there is a unit to speak of. */
  async function look(): Promise<UnitState> {
    const state = await systemd.show();
    if (!state.exists)
      throw new FairleadError("ACTION_FAILED", `there is no unit ${program.unit} on this machine`);
    return state;
  }

  async function bringDown(signal: AbortSignal): Promise<void> {
    const asked = await systemd.stop(program.stop_grace_ms + STOP_MARGIN_MS, signal);
    if (asked.kind === "failed") throw new FairleadError("ACTION_FAILED", asked.said);
    if (asked.kind === "done") return;
    await systemd.kill(signal); // (4)
    for (const end = clock.monotonic() + KILL_WAIT_MS; (await look()).active;) {
      if (clock.monotonic() > end) throw new FairleadError("RUNTIME_UNRESPONSIVE", asked.said);
      await sleep(POLL_MS, signal);
      signal.throwIfAborted();
    }
  }

  async function takeDown(signal: AbortSignal, { forLong }: { readonly forLong: boolean }): Promise<void> {
    const state = await look();
    signal.throwIfAborted();
    if (!(await dropIns.isHeld())) await dropIns.hold(); // (1)
    // Until then systemd knows nothing of the hold. Also when it lay there: a killed agent may have come no further.
    if (forLong) await systemd.daemonReload(signal);
    if (state.active || state.hasJob) await bringDown(signal);
  }

  async function launch(request: StartRequest, signal: AbortSignal): Promise<Launch> {
    const last = await dropIns.launch();
    if (last === undefined) {
      await systemd.daemonReload(signal); // a drop-in may just have gone
      expectAdoptable(program, await look());
    } else if (isLaunchOf(last, request) && !(await dropIns.isHeld()) && (await look()).active) {
      return last; // (3)
    }
    await expectBytes(request, signal);
    await takeDown(signal, { forLong: false }); // systemd is told once, below
    const instance_id = await claimInstance(folder, request.key, new Date(clock.now()).toISOString(), fs); // (2)
    const next = { ...request, instance_id };
    signal.throwIfAborted();
    await dropIns.writeLaunch(next); // (1)
    await dropIns.release();
    await systemd.daemonReload(signal);
    const late = await look();
    if (late.active || late.hasJob) await bringDown(signal); // (3)
    await systemd.resetFailed(signal);
    const asked = await systemd.start(signal);
    if (asked.kind === "late") throw new FairleadError("RUNTIME_UNRESPONSIVE", asked.said);
    if (asked.kind === "failed")
      throw new FairleadError("PROGRAM_NOT_RUNNING", await howItFailed(asked.said));
    return next;
  }

  async function howItFailed(said: string): Promise<string> {
    const { result, exit } = await look();
    return `the unit did not start (${result}${exit === null ? "" : `, ${exit.code ?? `signal ${exit.signal}`}`}): ${said}`;
  }

  async function expectBytes({ fingerprint }: StartRequest, signal: AbortSignal): Promise<void> {
    const found = await hashFileIfThere(program.install_path, fs, signal);
    if (found !== fingerprint)
      throw new FairleadError("ARTIFACT_DIGEST_MISMATCH", `${program.install_path} is ${found ?? "missing"}`);
  }

  return {
    look,
    stop: async (signal: AbortSignal): Promise<void> => takeDown(signal, { forLong: true }),
    async start(request: StartRequest, signal: AbortSignal): Promise<Launch> {
      const launched = await launch(request, signal);
      await settled({ ...deps, look }, signal);
      return launched;
    },
  };
}

const isLaunchOf = ({ key, fingerprint, run }: Launch, request: StartRequest): boolean =>
  isDeepStrictEqual({ key, fingerprint, run }, { ...request });
