/**
 * Heartbeats: every 30 seconds, every 10 while an upgrade runs, and at once when something changed.
 * Programs are looked at every second around an upgrade and every ten seconds otherwise: an idle agent stays idle.
 */
import { LIMITS } from "../core/limits.ts";
import type { Heartbeat, ProgramReport } from "../core/protocol/agent-api.ts";
import { sleep, type Clock } from "../host/clock.ts";
import type { Logger } from "../host/log.ts";
import type { Ledger } from "./authority/ledger.ts";
import { createInstance } from "./instance.ts";
import type { Link } from "./link/link.ts";
import type { Programs } from "./programs/programs.ts";
import type { SnapshotStore } from "./snapshots/store.ts";
import { giveMemoryBack } from "./small-heap.ts";
import { FAIRLEAD_VERSION } from "../core/version.ts";

const LOOK_BUSY_MS = 500;
const LOOK_IDLE_MS = 10_000;
/** A program that crashes after its upgrade does so mostly in its first minutes. */
const WATCH_AFTER_UPGRADE_MS = 5 * 60_000;
/** Programs that start with the agent come up in these moments. */
const WATCH_AFTER_START_MS = 15_000;

export interface PulseDeps {
  readonly programs: Programs;
  readonly snapshots: SnapshotStore;
  readonly ledger: Ledger;
  readonly link: () => Link;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createPulse({ programs, snapshots, ledger, link, clock, log }: PulseDeps) {
  const instance = createInstance(clock);
  let upgrading = false;
  let watchUntil = clock.monotonic() + WATCH_AFTER_START_MS;
  let wake: () => void = () => {};

  async function measure(): Promise<Heartbeat> {
    return {
      at: new Date(clock.now()).toISOString(),
      agent_version: FAIRLEAD_VERSION,
      applied: snapshots.versions(),
      programs: await programs.report(),
      last_rejection: ledger.lastRejection(),
      instance: instance.current(),
    };
  }

  const closely = () => upgrading || clock.monotonic() < watchUntil;

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    wake = () => woken.abort();
    await sleep(ms, AbortSignal.any([signal, woken.signal]));
  }

  async function run(signal: AbortSignal): Promise<void> {
    let sentAt = -Infinity;
    let sent = "";
    let busy = false;
    while (!signal.aborted) {
      const heartbeat = await measure();
      const looks = fingerprintOf(heartbeat);
      const interval = upgrading ? LIMITS.heartbeatUpgradeIntervalMs : LIMITS.heartbeatIntervalMs;
      if (looks !== sent || clock.monotonic() - sentAt >= interval) {
        try {
          await link().heartbeat(heartbeat, signal);
          instance.heard(heartbeat.instance!.id);
          sentAt = clock.monotonic();
          sent = looks;
        } catch (error) {
          if (!signal.aborted) log.warn("heartbeat not delivered", { error: String(error) });
        }
      }
      if (busy && !closely()) giveMemoryBack();
      busy = closely();
      await pause(busy ? LOOK_BUSY_MS : LOOK_IDLE_MS, signal);
    }
  }

  return {
    measure,
    run,
    /** Something happened that the server should know now. */
    beat: () => wake(),
    busy(now: boolean) {
      upgrading = now;
      watchUntil = clock.monotonic() + WATCH_AFTER_UPGRADE_MS;
      wake();
    },
  };
}

/** Everything but the time. */
function fingerprintOf({ applied, programs, last_rejection }: Heartbeat): string {
  return JSON.stringify([applied, programs satisfies readonly ProgramReport[], last_rejection]);
}
