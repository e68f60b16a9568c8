// A step at a replica that cannot sign changes nothing: the cause lies with the replica, not with the nodes.
import { afterAll, beforeAll, expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import type { RolloutId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { advanceRollout } from "../../../src/server/rollout/advance.ts";
import type { Authority } from "../../../src/server/snapshots/authority.ts";
import { publishDirty } from "../../../src/server/snapshots/dirty.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

/** Signs so many times, then no more. */
function withoutKey(signatures = 0): Authority {
  let left = signatures;
  return {
    ...here.authority,
    signers() {
      if (left-- > 0) return here.authority.signers();
      throw new FairleadError("NOT_READY", "nothing can be signed: the private half is not here");
    },
  };
}

/** Agrees at the start of the step, and no more when something is signed. */
function withLateClock(): Authority {
  let checks = 0;
  const check = (): void => {
    if (checks++ > 0) throw new FairleadError("CLOCK_DISAGREES", "nothing is signed: the clocks disagree");
  };
  return { ...here.authority, clock: { check, isOpen: () => checks === 0 } };
}

async function started(profile: string): Promise<RolloutId> {
  for (const name of ["a", "b"]) await here.addNode(`${profile}-${name}`, { profile });
  const request = manualRequest({ chain_profile_id: profile, health_wait_seconds: 0 });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  return id;
}

const stepBy = (authority: Authority, id: RolloutId) =>
  advanceRollout({ db: here.db, authority, onCommitted: () => undefined, nudgeGroup: () => undefined }, id);

test.each([
  ["NOT_READY", () => withoutKey()],
  ["CLOCK_DISAGREES", withLateClock],
] as const)(
  "ROLL-29: a step that ends with %s at a replica fails no node, and another replica launches them all",
  async (code, authority) => {
    const id = await started(`replica-${code.toLowerCase().replace("_", "-")}`);
    await expect(stepBy(authority(), id)).rejects.toMatchObject({ code });
    expect(await here.statusesOf(id)).toEqual(["pending", "pending"]);
    await here.settle();
    expect(await here.statusesOf(id)).toEqual(["in_progress", "in_progress"]);
  },
);

test("SNAP-3: a replica that loses its key while it publishes refuses no node's snapshot, and the marks stay", async () => {
  await here.addNode("marked", { profile: "marked" });
  const marks = async () => (await here.db`select 1 from snapshot_dirty`).length;
  const before = await marks();
  expect(before).toBeGreaterThan(0);
  await expect(publishDirty(here.db, withoutKey(1), Date.now)).rejects.toMatchObject({ code: "NOT_READY" });
  expect(await marks()).toBe(before);
  expect(await here.db`select 1 from snapshot_refusals`).toHaveLength(0);
  await publishDirty(here.db, here.authority, Date.now);
  expect(await marks()).toBe(0);
});
