/** A machine whose program runs in its first version, for upgrades that a fault of its files stops. */
import { afterEach, beforeEach, expect } from "vitest";
import { type FakeProcesses, fakeProcesses, fakeRuntime } from "./fake-runtime.ts";
import { type Machine, machine } from "./machine.ts";

export interface FaultScene {
  readonly m: Machine;
  readonly world: FakeProcesses;
  /** What was there before. */
  readonly installed: string;
  /** Nothing has changed, and nothing is left over. */
  expectAsBefore(): Promise<void>;
}

const BEFORE = { "app.toml": "level = 1\n" };

/** Made anew for each test of the file. */
export function faultScene(): FaultScene {
  let m: Machine;
  let world: FakeProcesses;
  let installed: string;
  beforeEach(async () => {
    world = fakeProcesses();
    m = await machine(({ program, fs }) => fakeRuntime(world, program, fs));
    await m.provision("1.0.0", BEFORE);
    installed = await m.installed();
  });
  afterEach(async () => m.close());
  return {
    get m() {
      return m;
    },
    get world() {
      return world;
    },
    get installed() {
      return installed;
    },
    async expectAsBefore() {
      expect(await m.installed()).toBe(installed);
      expect(world.running?.fingerprint).toBe(installed);
      expect(await m.configs()).toEqual(BEFORE);
      expect(await m.leftOver()).toEqual([]);
    },
  };
}
