/** The plan of a soak: the same from the same seed, and no month without every fault. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FAULT_KINDS, planSoak, RELEASES, type Round } from "../../soak/plan.ts";

const seeds = fc.integer({ min: 0, max: 4_294_967_295 });
const kindsOf = (rounds: readonly Round[]): Set<string> =>
  new Set(rounds.flatMap(({ faults }) => faults.map(({ kind }) => kind)));

describe("the plan of a soak", () => {
  test.each([30, 5])("ROLL-29: holds every fault and every kind of release within %i rounds", (rounds) => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 3, max: 24 }), (seed, hosts) => {
        const plan = planSoak({ seed, rounds, hosts });
        expect(kindsOf(plan)).toEqual(new Set(FAULT_KINDS));
        expect(new Set(plan.map(({ release }) => release))).toEqual(new Set(RELEASES));
      }),
    );
  });

  test("ROLL-29: names a day and existing hosts, two different ones a day", () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 3, max: 24 }), (seed, hosts) => {
        for (const [index, { day, batchSize, faults }] of planSoak({ seed, rounds: 30, hosts }).entries()) {
          expect(day).toBe(index + 1);
          expect(batchSize).toBeGreaterThanOrEqual(2);
          expect(batchSize).toBeLessThanOrEqual(hosts);
          const met = faults.map(({ host }) => host);
          expect(new Set(met).size).toBe(2);
          expect(met.every((host) => host >= 0 && host < hosts)).toBe(true);
        }
      }),
    );
  });

  test("ROLL-29: is the same from the same seed, and another from another", () => {
    const plan = (seed: number): Round[] => planSoak({ seed, rounds: 30, hosts: 10 });
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7)).not.toEqual(plan(8));
  });

  test("ROLL-29: moves clocks with outages and wrong clocks, and with nothing else", () => {
    const moving = new Set(["outage", "server_clock", "agent_clock"]);
    for (const { faults } of planSoak({ seed: 1, rounds: 100, hosts: 10 }))
      for (const { kind, seconds } of faults) expect(seconds !== 0).toBe(moving.has(kind));
  });
});
