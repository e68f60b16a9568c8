/** Events of nodes at a fixed rate, spread over the fleet: each one leads its node into another phase. */
import { UPGRADE_ACTIONS } from "../../src/core/upgrade/phases.ts";
import type { FakeFleet } from "../../test/support/browser/fake-fleet.ts";

const TICK_MS = 10;
/** Without a divisor in common with a fleet of round size: every node has its turn, and neighbours do not follow. */
const STRIDE = 7_919;

/** The first action of each phase: what stays within one phase looks the same and costs no drawing. */
const TURNS = UPGRADE_ACTIONS.map(({ phase }, at) =>
  UPGRADE_ACTIONS[at - 1]?.phase === phase ? -1 : at,
).filter((at) => at >= 0);

export function eventStream(fleet: FakeFleet, nodes: number) {
  let told = 0;

  function tellOne(): void {
    fleet.tell((told * STRIDE) % nodes, TURNS[Math.floor(told / nodes) % TURNS.length]!);
    told += 1;
  }

  /** Until it is stopped; the next one goes on where this one ended. */
  function start(perSecond: number): () => void {
    const [began, before] = [performance.now(), told];
    // What a late tick has missed it makes up for: the rate is fixed, whoever else is at work.
    const timer = setInterval(() => {
      const due = before + ((performance.now() - began) / 1000) * perSecond;
      while (told < due) tellOne();
    }, TICK_MS);
    return () => clearInterval(timer);
  }

  return { start };
}
