/**
 * The one gate before every signature of this replica: snapshots, heads, commands, certificates (SNAP-17, ADR 21).
 *
 * 1. A wall clock that moved against the monotonic clock closes it in the same instant, in every thread: the readings
 *    that last agreed lie in shared memory.
 * 2. The watch closes it for everything else, and opens it again.
 * 3. A start whose time is not proven yet signs nothing. Its certificates are issued: nodes are heard with them.
 * 4. A signature carries the time of a clock that agrees: the wall clock's, or the database's.
 */
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { machineClock, type MachineClock } from "../../host/clock.ts";

const SLOTS = ["wallMinusMonotonic", "wallMinusBoot", "closed", "unproven", "databaseMinusWall"] as const;
const slotOf = (name: (typeof SLOTS)[number]): number => SLOTS.indexOf(name);

export interface ClockGate {
  /** For a gate of another thread. */
  readonly memory: SharedArrayBuffer;
  /** How far the wall clock moved beyond the monotonic clock since they last agreed. */
  movedMs(): number;
  isOpen(): boolean;
  /** Throws CLOCK_DISAGREES unless something may be signed with this time. */
  check(issuedAt: number): void;
  /** The wall clock, where it may date a certificate. */
  agreedNow(): number;
  /** The clocks agree at this moment: movement is counted from here. */
  agree(): void;
  set(state: GateState): void;
}

export interface GateState {
  readonly closed: boolean;
  /** Nothing may be signed but certificates. */
  readonly unproven?: boolean;
  readonly databaseMinusWallMs: number;
}

/** Without `memory`, a new gate, open. */
export function createClockGate(
  clock: MachineClock = machineClock,
  memory: SharedArrayBuffer | null = null,
): ClockGate {
  const shared = memory ?? new SharedArrayBuffer(SLOTS.length * Float64Array.BYTES_PER_ELEMENT);
  const slots = new Float64Array(shared);
  const get = (name: (typeof SLOTS)[number]): number => slots[slotOf(name)]!;
  const put = (name: (typeof SLOTS)[number], value: number): void => void (slots[slotOf(name)] = value);

  function movedMs(): number {
    const now = clock.now();
    const byMonotonic = now - clock.monotonic() - get("wallMinusMonotonic");
    if (Math.abs(byMonotonic) <= LIMITS.clockDisagreeMs) return byMonotonic;
    // A machine that was suspended did not change its clock.
    const byBoot = now - clock.sinceBoot() - get("wallMinusBoot");
    return Math.abs(byBoot) < Math.abs(byMonotonic) ? byBoot : byMonotonic;
  }

  function agree(): void {
    const now = clock.now();
    put("wallMinusMonotonic", now - clock.monotonic());
    put("wallMinusBoot", now - clock.sinceBoot());
  }

  const isAgreed = (): boolean => get("closed") === 0 && Math.abs(movedMs()) <= LIMITS.clockDisagreeMs; // (1) (2)
  const isOpen = (): boolean => isAgreed() && get("unproven") === 0; // (3)

  function check(issuedAt: number): void {
    if (isAgreed() && !isOpen())
      throw disagrees("too few nodes have confirmed the time after a long absence");
    checkAgreed(issuedAt);
  }

  function checkAgreed(issuedAt: number): void {
    if (!isAgreed()) throw disagrees("the clocks of the control plane disagree");
    const ahead = issuedAt - clock.now();
    const isNear = [0, get("databaseMinusWall")].some(
      (offset) => Math.abs(ahead - offset) <= LIMITS.clockDisagreeMs,
    );
    if (!isNear)
      throw disagrees(`the time to be signed is ${Math.round(ahead / 1000)} s from the wall clock`); // (4)
  }

  if (memory === null) agree();
  return {
    memory: shared,
    movedMs,
    isOpen,
    check,
    agreedNow() {
      const now = clock.now();
      checkAgreed(now);
      return now;
    },
    agree,
    set({ closed, unproven = false, databaseMinusWallMs }) {
      put("closed", closed ? 1 : 0);
      put("unproven", unproven ? 1 : 0);
      put("databaseMinusWall", databaseMinusWallMs);
    },
  };
}

const disagrees = (why: string): FairleadError =>
  new FairleadError("CLOCK_DISAGREES", `nothing is signed: ${why}`);
