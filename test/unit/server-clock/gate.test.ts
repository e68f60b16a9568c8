// The one gate before every signature of a replica (SNAP-17, ADR 21).
import { expect, test } from "vitest";
import { createClockGate } from "../../../src/server/clock/gate.ts";
import { signersAt, type Authority } from "../../../src/server/snapshots/authority.ts";
import { newSigner, CLUSTER } from "../../support/trust.ts";
import { movableClock } from "../../support/server/movable-clock.ts";

const HOUR_MS = 3_600_000;
const refusal: unknown = expect.objectContaining({ code: "CLOCK_DISAGREES" });

test("SNAP-17: the gate closes in the instant in which the wall clock jumps, and opens when it is set back", () => {
  const clock = movableClock();
  const gate = createClockGate(clock);
  clock.pass(10 * HOUR_MS);
  expect(gate.agreedNow()).toBe(clock.now());
  for (const jump of [12 * HOUR_MS, -12 * HOUR_MS]) {
    clock.jump(jump);
    expect([gate.isOpen(), gate.movedMs()]).toEqual([false, jump]);
    expect(() => gate.agreedNow()).toThrow(refusal);
    clock.jump(-jump);
    expect(gate.isOpen()).toBe(true);
  }
});

test("SNAP-17: a jump closes the gate of every thread that shares its memory", () => {
  const clock = movableClock();
  const gate = createClockGate(clock);
  const other = createClockGate(clock, gate.memory);
  expect(other.isOpen()).toBe(true);
  gate.set({ closed: true, databaseMinusWallMs: 0 });
  expect(other.isOpen()).toBe(false);
  gate.set({ closed: false, databaseMinusWallMs: 0 });
  clock.jump(HOUR_MS);
  expect(() => other.check(clock.now())).toThrow(refusal);
  gate.agree();
  expect(() => other.check(clock.now())).not.toThrow();
});

test("SNAP-17: a machine that was suspended for an hour did not change its clock", () => {
  const clock = movableClock();
  const gate = createClockGate(clock);
  clock.suspend(HOUR_MS);
  expect(gate.isOpen()).toBe(true);
  clock.jump(HOUR_MS);
  expect(gate.isOpen()).toBe(false);
});

test("SNAP-17: nothing is signed with a time more than 60 s from the wall clock, unless the database's clock is accepted there", () => {
  const clock = movableClock();
  const gate = createClockGate(clock);
  expect(() => gate.check(clock.now() + 60_000)).not.toThrow();
  expect(() => gate.check(clock.now() - 60_001)).toThrow(refusal);
  expect(() => gate.check(clock.now() + HOUR_MS)).toThrow(refusal);
  gate.set({ closed: false, databaseMinusWallMs: HOUR_MS });
  expect(() => gate.check(clock.now() + HOUR_MS)).not.toThrow();
  expect(() => gate.check(clock.now())).not.toThrow();
  expect(() => gate.check(clock.now() + HOUR_MS / 2)).toThrow(refusal);
});

test("SNAP-17: an authority names no signer for a time that the gate refuses", () => {
  const clock = movableClock();
  const signer = newSigner();
  const authority: Authority = { clusterId: CLUSTER, signers: () => [signer], clock: createClockGate(clock) };
  expect(signersAt(authority, clock.now())).toEqual([signer]);
  expect(() => signersAt(authority, clock.now() + 12 * HOUR_MS)).toThrow(refusal);
  clock.jump(12 * HOUR_MS);
  expect(() => signersAt(authority, clock.now())).toThrow(refusal);
});

test("SNAP-17: while the time of a start is not proven nothing is signed but certificates, in every thread", () => {
  const clock = movableClock();
  const gate = createClockGate(clock);
  const other = createClockGate(clock, gate.memory);
  gate.set({ closed: false, unproven: true, databaseMinusWallMs: 0 });
  expect([gate.isOpen(), other.isOpen()]).toEqual([false, false]);
  expect(() => other.check(clock.now())).toThrow(/too few nodes have confirmed the time/);
  expect(gate.agreedNow()).toBe(clock.now());
  clock.jump(HOUR_MS);
  expect(() => gate.agreedNow()).toThrow(refusal);
  clock.jump(-HOUR_MS);
  gate.set({ closed: false, databaseMinusWallMs: 0 });
  expect(() => other.check(clock.now())).not.toThrow();
});
