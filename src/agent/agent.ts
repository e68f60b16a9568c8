/** One agent: enrolls once, then polls, applies, upgrades, reports and beats until told to stop. */
import { FairleadError } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { PollResponse } from "../core/protocol/agent-api.ts";
import { sleep, type Clock } from "../host/clock.ts";
import { nodeFileSystem, type FileSystemPort } from "../host/file-system-port.ts";
import { ensureDirectory } from "../host/files.ts";
import type { Logger } from "../host/log.ts";
import { openLedger } from "./authority/ledger.ts";
import { receiveCommand } from "./authority/receive.ts";
import { receiveVoidIntent } from "./authority/receive-void-intent.ts";
import type { AgentConfig } from "./config.ts";
import { identify } from "./identity/identify.ts";
import { keepRenewed } from "./identity/renew.ts";
import { folderOf } from "./identity/store.ts";
import { openLink } from "./link/link.ts";
import { openOutbox } from "./link/outbox.ts";
import { openPrograms, stateDirOf } from "./programs/open.ts";
import { createPulse } from "./pulse.ts";
import { openSnapshotStore } from "./snapshots/store.ts";
import { createRunner } from "./upgrade-runner.ts";

const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 15_000;

export interface AgentDeps {
  readonly config: AgentConfig;
  /** How to start a shim: this agent's own file with its subcommand. */
  readonly shimCommand: readonly [string, ...string[]];
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Through which an upgrade changes the machine. */
  readonly fs?: FileSystemPort;
}

export async function runAgent(deps: AgentDeps): Promise<void> {
  const { config, shimCommand, clock, log, signal, fs = nodeFileSystem } = deps;
  const { data_dir: dataDir } = config;
  await ensureDirectory(dataDir, 0o700);
  const { identity, firstBundle } = await identify(config, clock, log);
  let link = openLink(identity);
  const folder = folderOf(dataDir, identity);
  const snapshots = await openSnapshotStore(folder, identity, clock);
  const ledger = await openLedger(folder);
  const stateDir = stateDirOf(config);
  await ensureDirectory(stateDir, 0o700);
  const programs = openPrograms(config, shimCommand, clock, fs);
  const pulse = createPulse({ programs, snapshots, ledger, link: () => link, clock, log });
  const outbox = await openOutbox({ folder, link: () => link, heartbeat: pulse.measure, clock, log });
  const runner = createRunner({
    stateDir,
    programs,
    snapshots,
    ledger,
    outbox,
    link: () => link,
    clock,
    log,
    fs,
    busy: pulse.busy,
  });

  /** How many were taken. */
  async function applySnapshots(frames: readonly Uint8Array[]): Promise<number> {
    let taken = 0;
    for (const frame of frames) {
      const result = await snapshots.apply(frame);
      if (result.kind === "accepted") {
        taken += 1;
        continue;
      }
      const { step, code, field, reason } = result;
      log.warn("snapshot rejected", { step, code, field, reason });
      const at = new Date(clock.now()).toISOString();
      await ledger.noteRejection({
        code,
        subject: `snapshot, check ${step}, ${field}`,
        reason: reason.slice(0, 1000),
        at,
      });
    }
    pulse.beat();
    return taken;
  }

  /** How much of it was taken: what is refused stays on offer, and must not be asked for without a pause. */
  async function handle({ snapshots: frames, commands, void_intents }: PollResponse): Promise<number> {
    let taken = await applySnapshots(frames.map((frame) => Buffer.from(frame, "base64")));
    for (const frame of void_intents) taken += await takeVoidIntent(Buffer.from(frame, "base64"));
    for (const delivery of commands) {
      const received = await receiveCommand(
        { identity, snapshots, ledger, programs, stateDir, clock },
        delivery,
      );
      if (received.kind === "accepted") {
        taken += 1;
        runner.start(received.pending, signal);
      }
      if (received.kind === "refused") {
        log.warn("command refused", { ...received.rejection });
        if (received.commandId !== null)
          await outbox.add(received.commandId, { kind: "refused", rejection: received.rejection });
        pulse.beat();
      }
    }
    return taken;
  }

  async function takeVoidIntent(frame: Buffer): Promise<number> {
    try {
      return (await receiveVoidIntent({ identity, snapshots, ledger }, frame)) ? 1 : 0;
    } catch (error) {
      if (!(error instanceof FairleadError)) throw error;
      log.warn("empty intent refused", { code: error.code, reason: error.message });
      return 0;
    }
  }

  async function pollForever(): Promise<void> {
    let retryMs = RETRY_MS_MIN;
    async function pauseForLonger(): Promise<void> {
      await sleep(retryMs, signal);
      retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    }
    while (!signal.aborted) {
      try {
        const request = {
          have: snapshots.versions(),
          command_mark: ledger.mark(),
          intent_serials: ledger.serials(),
          wait_ms: LIMITS.pollWaitMaxMs,
        };
        const answer = await link.poll(request, signal);
        if (answer === null || (await handle(answer)) > 0) retryMs = RETRY_MS_MIN;
        else await pauseForLonger();
      } catch (error) {
        if (signal.aborted) return;
        log.warn("poll failed; trying again", { error: String(error), retry_ms: retryMs });
        await pauseForLonger();
      }
    }
  }

  if (firstBundle !== null) await applySnapshots([firstBundle]);
  runner.resume(signal);
  log.info("agent runs", { node_id: identity.node_id });
  const renewal = keepRenewed(
    identity,
    dataDir,
    clock,
    log,
    signal,
    () => link,
    (renewed) => {
      link.close();
      link = openLink(renewed);
    },
  );
  await Promise.all([pollForever(), pulse.run(signal), outbox.run(signal), renewal]);
  await runner.idle();
  link.close();
}
