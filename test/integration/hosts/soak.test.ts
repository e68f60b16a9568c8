/**
 * Five rounds of `npm run soak` on four hosts instead of ten: the same code, from a fixed seed whose plan holds every kind of
 * fault. Thirty rounds are played by hand.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { soak } from "../../soak/soak.ts";

const SEED = 2745;

test("ROLL-29: after five days of faults on systemd hosts every node runs the version its operator wants, by documented commands alone", async () => {
  const { days } = await soak({ seed: SEED, rounds: 5, hosts: 4, logsTo: join(tmpdir(), "fl-soak-logs") });
  expect(days.map(({ day }) => day)).toEqual([1, 2, 3, 4, 5]);
  // Sound releases are wanted and stay; a bad one changes nothing.
  expect(days.map(({ version, wanted }) => version === wanted.version)).toContain(true);
  expect(days.map(({ version, wanted }) => version === wanted.version)).toContain(false);
}, 600_000);
