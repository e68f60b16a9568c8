/**
 * An operator says what time it is (SNAP-17): the way on where no clock can vouch for another.
 *
 * 1. The operator's time is compared with this replica's: nobody confirms a clock that shows another time.
 * 2. Row and event are one transaction; every replica takes the row for itself, at its next look.
 */
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ConfirmTimeRequest, TimeConfirmed } from "../../core/protocol/clock-api.ts";
import type { Database } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import type { ClockWatch } from "./watch.ts";

export interface ConfirmDeps {
  readonly db: Database;
  readonly now: () => number;
  readonly watch: Pick<ClockWatch, "look" | "problem">;
}

export async function confirmTime(
  { db, now, watch }: ConfirmDeps,
  { time, reason }: ConfirmTimeRequest,
  actor: string,
): Promise<TimeConfirmed> {
  const wall = now();
  const difference = wall - Date.parse(time);
  if (Math.abs(difference) > LIMITS.clockDisagreeMs)
    throw new FairleadError(
      "CLOCK_DISAGREES",
      `the server's clock shows ${new Date(wall).toISOString()}, ${Math.round(difference / 1000)} s from ${time}: correct the clock that is wrong first`,
      { difference_ms: difference },
    ); // (1)
  await db.begin(async (tx) => {
    await tx`insert into clock_confirmations (true_time, reason, actor) values (${time}, ${reason}, ${actor})`;
    await appendEvents(tx, [
      { kind: "authority.time_confirmed", actor, data: { time, reason, difference_ms: difference } },
    ]);
  }); // (2)
  await watch.look();
  return {
    server_time: new Date(wall).toISOString(),
    difference_ms: difference,
    problem: watch.problem(),
  };
}
