import { describe, expect, it } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { nodeDown } from "../../../src/core/incident/troubles.ts";
import { decideIncidents, type KnownIncident, type Trouble } from "../../../src/core/incident/watch.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { IncidentId } from "../../../src/core/protocol/incident-api.ts";
import { randomOf } from "../../simulation/random.ts";

const QUIET = LIMITS.incidentQuietMs;
const MAX = LIMITS.incidentsPerCategoryMax;
const LOOK_MS = 5_000;
const down = (n: number): Trouble => nodeDown({ nodeId: `n${n}` as NodeId, name: `edge-${n}` }, 0);
const downTo = (count: number): Trouble[] => Array.from({ length: count }, (_, n) => down(n));

/** Incidents as rows, moved by one look after the other. */
function fleet() {
  let rows: (KnownIncident & { title: string; severity: string })[] = [];
  let now = 1_000_000_000;
  let opened = 0;
  return {
    look(troubles: readonly Trouble[], { gap = LOOK_MS, visibleSince = 0 } = {}) {
      now += gap;
      const known = rows.filter((row) => !row.isResolved || row.lastSeenAt > now - QUIET);
      const decision = decideIncidents(troubles, known, now, visibleSince);
      rows = rows.map((row) => ({
        ...row,
        lastSeenAt: decision.seen.includes(row.id) ? now : row.lastSeenAt,
        isResolved: row.isResolved || decision.resolved.includes(row.id),
        title: decision.changed.find(({ id }) => id === row.id)?.title ?? row.title,
      }));
      for (const draft of decision.opened)
        rows.push({
          id: `i${++opened}` as IncidentId,
          category: draft.category as KnownIncident["category"],
          nodeId: draft.nodeId,
          subject: draft.subject ?? "",
          isResolved: false,
          lastSeenAt: now,
          title: draft.title,
          severity: draft.severity,
        });
      return { opened: decision.opened.map(({ title }) => title), resolved: decision.resolved.length };
    },
    /** A person does it. */
    resolveAll: () => void (rows = rows.map((row) => ({ ...row, isResolved: true }))),
    now: () => now,
    open: () => rows.filter(({ isResolved }) => !isResolved),
    opened: () => opened,
  };
}

describe("incidents of the fleet (ROLL-19)", () => {
  it("ROLL-19: trouble that is seen again and again is opened once, and resolved when it was away for the quiet time", () => {
    const site = fleet();
    expect(site.look([down(1)]).opened).toEqual(["edge-1 is down: no heartbeat since 1970-01-01T00:00:00Z"]);
    for (let look = 0; look < 100; look++) expect(site.look([down(1)])).toEqual({ opened: [], resolved: 0 });
    expect(site.look([], { gap: QUIET - 1 })).toEqual({ opened: [], resolved: 0 });
    expect(site.look([], { gap: 1 })).toEqual({ opened: [], resolved: 1 });
    expect(site.open()).toEqual([]);
    expect(site.look([down(1)]).opened).toHaveLength(1);
  });

  it("ROLL-19: a node that flaps faster than the quiet time is one incident, however often it goes down", () => {
    const site = fleet();
    for (let flap = 0; flap < 50; flap++) {
      site.look([down(1)], { gap: QUIET / 2 });
      site.look([], { gap: QUIET / 2 - 1 });
    }
    expect([site.opened(), site.open().length]).toEqual([1, 1]);
  });

  it("ROLL-19: while nobody could see the trouble, its absence resolves nothing", () => {
    const site = fleet();
    site.look([down(1)]);
    const back = site.now() + 10 * QUIET;
    expect(site.look([], { gap: 10 * QUIET, visibleSince: back }).resolved).toBe(0);
    expect(site.look([], { gap: QUIET - 1, visibleSince: back }).resolved).toBe(0);
    expect(site.look([], { gap: 1, visibleSince: back }).resolved).toBe(1);
  });

  it("ROLL-19: an incident that a person resolved stays resolved while its trouble lasts, and opens when it comes back", () => {
    const site = fleet();
    site.look([down(1)]);
    site.resolveAll();
    for (let look = 0; look < 100; look++)
      expect(site.look([down(1)], { gap: QUIET / 2 }).opened).toEqual([]);
    site.look([], { gap: QUIET });
    expect(site.look([down(1)]).opened).toHaveLength(1);
  });

  it("ROLL-19: a thousand nodes that go down at once are one incident with their number and some names", () => {
    const site = fleet();
    expect(site.look(downTo(1_000)).opened).toEqual(["1000 nodes are down"]);
    expect(site.look(downTo(990)).opened).toEqual([]);
    expect(site.open()).toMatchObject([{ nodeId: null, title: "990 nodes are down", severity: "critical" }]);
    expect(site.look([], { gap: QUIET }).resolved).toBe(1);
    expect(site.opened()).toBe(1);
  });

  it("ROLL-19: up to the bound each node has an incident of its own; one more, and the rest are in one about all", () => {
    const site = fleet();
    expect(site.look(downTo(MAX)).opened).toHaveLength(MAX);
    expect(site.look(downTo(MAX + 1)).opened).toEqual([`${MAX + 1} nodes are down`]);
    // Around the bound it neither ends nor tells of single nodes.
    expect(site.look(downTo(MAX)).opened).toEqual([]);
    expect(site.look(downTo(MAX / 2 + 1)).opened).toEqual([]);
  });

  it("ROLL-19: nodes that are left when the many are back get incidents of their own", () => {
    const site = fleet();
    site.look(downTo(500));
    expect(site.look(downTo(2)).opened).toHaveLength(2);
    expect(site.look(downTo(2), { gap: QUIET }).resolved).toBe(1);
    expect(site.open().map(({ nodeId }) => nodeId)).toEqual(["n0", "n1"]);
  });

  it("ROLL-19: trouble of another category is another incident", () => {
    const site = fleet();
    site.look([down(1), { ...down(1), category: "crash_loop" }]);
    expect(site.open()).toHaveLength(2);
  });

  it("ROLL-19: whatever comes and goes, a look opens a bounded number, no trouble has two, and quiet ends all", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomOf(seed);
      const site = fleet();
      for (let look = 0; look < 60; look++) {
        const count = random.below(random.chance(0.3) ? 200 : 30);
        const { opened } = site.look(downTo(count), { gap: random.below(QUIET * 1.5) });
        expect(opened.length).toBeLessThanOrEqual(MAX);
        const keys = site.open().map(({ nodeId, subject }) => `${nodeId} ${subject}`);
        expect(new Set(keys).size).toBe(keys.length);
        if (count > 0) expect(site.open().length).toBeGreaterThan(0);
      }
      site.look([], { gap: QUIET });
      expect(site.open(), `seed ${seed}`).toEqual([]);
    }
  });
});
