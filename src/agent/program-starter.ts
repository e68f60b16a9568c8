/**
 * Programs that should run, run: after a start of the agent or of the machine, and for as long as the agent lives.
 *
 * 1. A start passes the gate (SNAP-9); one that is refused waits until the situation may have changed.
 * 2. A start without the control plane is noted, and told with the next heartbeats: when, and since when its authority
 *    had expired.
 * 3. A program that cannot start does not take its agent down: an upgrade is what could repair it.
 */
import type { Gate } from "../core/degraded/gate.ts";
import { startedAloneText } from "../core/degraded/started-alone-text.ts";
import { FairleadError, unreachable } from "../core/errors.ts";
import type { ProfileId } from "../core/ids.ts";
import { REASON_CHARS_MAX, type StartedAlone } from "../core/protocol/agent-api.ts";
import { storableText } from "../core/text.ts";
import type { Clock } from "../host/clock.ts";
import type { FileSystemPort } from "../host/file-system-port.ts";
import type { Logger } from "../host/log.ts";
import type { Ledger } from "./authority/ledger.ts";
import type { Contact } from "./degraded/contact.ts";
import type { GateKeeper } from "./degraded/gate-keeper.ts";
import { programConcerns, type Started } from "./degraded/program-concerns.ts";
import type { Programs } from "./programs/programs.ts";
import { ensureRunning } from "./upgrade/ensure-running.ts";
import { noteStartedAlone } from "./upgrade/started-alone.ts";

/** A program that cannot be started is tried again, later each time. */
const WATCH_RETRY_MS_MIN = 10_000;
const WATCH_RETRY_MS_MAX = 10 * 60_000;

export interface StarterDeps {
  readonly stateDir: string;
  readonly programs: Programs;
  readonly ledger: Pick<Ledger, "noteRejection">;
  readonly keeper: GateKeeper;
  readonly contact: Contact;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fs: FileSystemPort;
  /** There is something to tell. */
  readonly beat: () => void;
}

export function createProgramStarter(deps: StarterDeps) {
  const { programs, ledger, keeper, contact, stateDir, clock, log, fs } = deps;
  /** Programs that were not started because the gate was closed, and those of which that was told. */
  const waiting = new Set<ProfileId>();
  const told = new Set<ProfileId>();

  /** After a restart nobody knows yet whether the control plane is there: the first poll tells. */
  async function passGate(profile: ProfileId, started: Started): Promise<StartedAlone | null> {
    await contact.settled();
    const gate = keeper.passGate("continue_services", ...programConcerns(profile, started)); // (1)
    return aloneBy(gate);
  }

  function aloneBy({ expiredSince }: Extract<Gate, { kind: "open" }>): StartedAlone | null {
    const { contact: isThere, headFresh } = keeper.situation();
    if (isThere && headFresh) return null;
    return { at: isoOf(clock.now()), expired_since: expiredSince === undefined ? null : isoOf(expiredSince) };
  }

  async function note(profile: ProfileId, alone: StartedAlone | null): Promise<void> {
    if (alone !== null) log.warn(startedAloneText(alone), { profile, ...alone });
    try {
      await noteStartedAlone(stateDir, profile, alone, fs); // (2)
    } catch (error) {
      log.error("start without control plane not stored", { profile, error });
    }
    deps.beat();
  }

  async function ensure(profile: ProfileId, signal: AbortSignal): Promise<void> {
    const [program, adapter] = [programs.config(profile), programs.adapter(profile)];
    let alone: StartedAlone | null = null;
    try {
      const beforeStart = async (started: Started) => void (alone = await passGate(profile, started));
      const ensured = await ensureRunning({ profile, program, adapter, stateDir, signal, beforeStart, fs });
      told.delete(profile);
      switch (ensured.kind) {
        case "running":
          break;
        case "started":
          await note(profile, alone);
          break;
        case "not_installed":
        case "upgrade_unfinished":
        case "held":
        case "drifted":
          log.warn("program not started", { profile, ...ensured });
          break;
        default:
          unreachable(ensured);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof FairleadError && error.detail?.["action"] === "continue_services")
        return await waitForGate(profile, error);
      log.error("program start failed", { profile, error }); // (3)
    }
  }

  /** Told once, not with every poll. */
  async function waitForGate(profile: ProfileId, { code, message }: FairleadError): Promise<void> {
    waiting.add(profile);
    if (told.has(profile)) return;
    told.add(profile);
    log.warn("program not started: gate closed", { profile, code, reason: message });
    const reason = storableText(message, REASON_CHARS_MAX);
    await ledger.noteRejection({ code, subject: `start of ${profile}`, reason, at: isoOf(clock.now()) });
    deps.beat();
  }

  /** When each program is looked at again: after a start that failed, later each time. */
  const lookAt = new Map<ProfileId, { readonly at: number; readonly waitMs: number }>();

  /** Starts a program whose shim was killed and which has ended since (ROLL-6). One that still runs is left alone. */
  async function watch(profile: ProfileId, signal: AbortSignal): Promise<void> {
    const { at, waitMs } = lookAt.get(profile) ?? { at: 0, waitMs: WATCH_RETRY_MS_MIN };
    if (clock.monotonic() < at) return;
    try {
      if ((await programs.adapter(profile).isLost?.()) !== true) return void lookAt.delete(profile);
    } catch (error) {
      return log.error("runtime not answering", { profile, what: "supervision", error });
    }
    log.warn("program and shim gone; restarting", { profile });
    lookAt.set(profile, { at: clock.monotonic() + waitMs, waitMs: Math.min(waitMs * 2, WATCH_RETRY_MS_MAX) });
    await ensure(profile, signal);
  }

  return {
    ensure,
    watch,
    /** Takes the programs that wait for the gate: the list is empty afterwards. */
    takeWaiting(): ProfileId[] {
      const profiles = [...waiting];
      waiting.clear();
      return profiles;
    },
    /** An upgrade started it, with the control plane there. */
    startedByUpgrade: (profile: ProfileId) => note(profile, null),
  };
}

const isoOf = (at: number): string => new Date(at).toISOString();
