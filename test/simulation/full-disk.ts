/** A disk that becomes full at one of an agent's writes during an upgrade, and is freed after a while. */
import { UPGRADE_ACTIONS, type ActionName } from "../../src/core/upgrade/phases.ts";
import type { Random } from "./random.ts";

export type Write =
  | "permit"
  | "ledger"
  | "checkpoint"
  | `before ${ActionName}`
  | `after ${ActionName}`
  | "activation"
  | "verdict"
  | "report"
  | "end";

/** In the order of one upgrade (src/agent/upgrade-runner.ts, src/agent/upgrade/executor.ts). */
export const WRITES: readonly Write[] = [
  "permit",
  "ledger",
  "checkpoint",
  ...UPGRADE_ACTIONS.flatMap(({ name }) => [`before ${name}`, `after ${name}`] as const),
  "activation",
  "verdict",
  "report",
  "end",
];

export interface FullDisk {
  /** Null: the disk has room. */
  readonly write: Write | null;
  readonly lastsMs: number;
}

export const NO_FULL_DISK: FullDisk = { write: null, lastsMs: 0 };

const LASTS_MS = 3 * 3_600_000;

export const drawFullDisk = (random: Random): FullDisk =>
  random.chance(0.1) ? { write: random.pick(WRITES), lastsMs: random.below(LASTS_MS) } : NO_FULL_DISK;
