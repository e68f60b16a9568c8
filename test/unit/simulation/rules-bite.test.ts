// A rule that nothing can break checks nothing: each is broken here on purpose, and has to be noticed by its own name.
import { expect, test } from "vitest";
import { decideGroup } from "../../../src/core/group/decide.ts";
import type { RolloutDecision } from "../../../src/core/rollout/decision.ts";
import { decideRollout } from "../../../src/core/rollout/decide.ts";
import type { RolloutRow, RolloutRows } from "../../../src/core/rollout/rows.ts";
import { isGivenUp } from "../../../src/core/rollout/late.ts";
import { playMonth, type MonthParts } from "../../simulation/month.ts";
import { simulate, type Parts } from "../../simulation/simulate.ts";
import { RULES, Violation, type Rule } from "../../simulation/violation.ts";

const SEEDS = 1_000;
const MONTHS = 50;

/** It decides as if the rows said something else. */
const believing = (lie: (rollout: RolloutRow, now: number) => Partial<RolloutRow>): Parts => ({
  decide: (rows, now) =>
    decideRollout({ ...rows, rollout: { ...rows.rollout, ...lie(rows.rollout, now) } }, now),
});
/** It decides right, and what is written is something else. */
const writing = (
  change: (decision: RolloutDecision, rows: RolloutRows) => Partial<RolloutDecision>,
): Parts => ({
  decide(rows, now) {
    const decision = decideRollout(rows, now);
    return { ...decision, ...change(decision, rows) };
  },
});

/** As if no heartbeat told what a node runs. */
function unmeasured(rows: RolloutRows): RolloutRows {
  const silent = (nodes: RolloutRows["batch"]) => nodes.map((node) => ({ ...node, measured: null }));
  return { ...rows, batch: silent(rows.batch), named: silent(rows.named) };
}

const BROKEN: readonly (readonly [Rule, string, Parts])[] = [
  ["one active rollout per profile", "the claim is not looked at", { claims: false }],
  ["no batch before its gate", "the health wait is left out", believing(() => ({ healthWaitMs: 0 }))],
  [
    "no batch before its gate",
    "the approval is taken for given",
    believing(() => ({ migrationType: "none" })),
  ],
  [
    "no batch before its gate",
    "a closed window is not looked at",
    believing(() => ({ intentNotAfter: null })),
  ],
  [
    "no batch before its gate",
    "a batch begins in spite of a pause",
    writing(({ rollout }, { rollout: was, next }) =>
      was.status === "running" && rollout.why?.code === "PAUSED" && next !== null
        ? { launchBatch: { index: next.index, part: "pending", most: 1 } }
        : {},
    ),
  ],
  [
    "no batch before its gate",
    "a retry of all that failed is launched at once",
    writing(({ retries }, { batch }) => ({
      launches:
        retries === "all"
          ? batch
              .filter(({ status }) => status === "failed")
              .map(({ nodeId, attempt }) => ({ nodeId, direction: "forward", attempt: attempt + 1 }))
          : [],
    })),
  ],
  [
    "no batch before its gate",
    "nodes that are away for another program are not counted",
    {
      decide: (rows, now) =>
        decideRollout(
          {
            ...rows,
            batch: rows.batch.map((node) => ({ ...node, elsewhere: null })),
            next: rows.next && {
              ...rows.next,
              byValue: rows.next.byValue.map((counted) => ({ ...counted, away: 0, busy: 0 })),
            },
          },
          now,
        ),
    },
  ],
  [
    "no component before its gate",
    "the watch between components is left out",
    { decideGroup: (rows, now) => decideGroup({ ...rows, group: { ...rows.group, healthWaitMs: 0 } }, now) },
  ],
  [
    "no component before its gate",
    "components go back all at once",
    {
      decideGroup(rows, now) {
        const decision = decideGroup(rows, now);
        const all = rows.components.filter(({ status, hasUnread }) => status === "completed" && !hasUnread);
        const isRollback = decision.componentSignals.some(({ kind }) => kind === "rollback");
        const asked = all.map(({ id }) => ({ rolloutId: id, kind: "rollback" as const })).toReversed();
        return isRollback ? { ...decision, componentSignals: asked } : decision;
      },
    },
  ],
  [
    "the threshold is overshot by one batch at most",
    "the threshold is taken for 1",
    believing(({ strategy }) => (strategy === "rolling" ? { failureThreshold: 1 } : {})),
  ],
  [
    "every node ends in the state of its machine",
    "a failure is written as one on the new version",
    writing(({ nodes }) => ({
      nodes: nodes.map((node) => (node.status === "failed" ? { ...node, stands: "target" } : node)),
    })),
  ],
  [
    "every node ends in the state of its machine",
    "a node that was given up is written as put back",
    writing(({ nodes }) => ({
      nodes: nodes.map((node) => (node.stands === "unknown" ? { ...node, stands: "previous" } : node)),
    })),
  ],
  [
    "every node ends in the state of its machine",
    "a way back that failed is written on a machine that is whole",
    writing(({ nodes }) => ({
      nodes: nodes.map((node) =>
        node.errorCode === "ACTION_TIMEOUT" && node.status === "failed"
          ? { ...node, status: "failed_rollback", stands: "unknown", errorCode: "COMPENSATION_FAILED" }
          : node,
      ),
    })),
  ],
  [
    "every node ends in the state of its machine",
    "a node is given up although its verdict is there",
    {
      decide: (rows, now) =>
        decideRollout({ ...rows, reports: rows.reports.filter(({ body }) => body.kind !== "verdict") }, now),
    },
  ],
  [
    "every node ends in the state of its machine",
    "heartbeats of nodes that were given up are not looked at",
    { decide: (rows, now) => decideRollout(unmeasured(rows), now) },
  ],
  [
    "no verdict is lost",
    "reports about nodes that were given up are dropped",
    {
      decide(rows, now) {
        const atWork = new Set(
          rows.batch.flatMap((node) => (node.status === "in_progress" ? [node.nodeId] : [])),
        );
        return decideRollout(
          { ...rows, reports: rows.reports.filter(({ nodeId }) => atWork.has(nodeId)) },
          now,
        );
      },
    },
  ],
  [
    "no node is given up before it could reconnect",
    "the absence of the control plane is not looked at",
    { decide: (rows, now) => decideRollout({ ...rows, availableSince: 0 }, now) },
  ],
  [
    "a rollback leaves no node on the target",
    "a rollback looks at nobody",
    { decide: (rows, now) => decideRollout({ ...rows, lastOnTarget: null }, now) },
  ],
  [
    "every compensation is complete or an incident",
    "no incident is written",
    writing(() => ({ incidents: [] })),
  ],
  [
    "every compensation is complete or an incident",
    "the recovery plan is left out",
    writing(({ incidents }) => ({ incidents: incidents.map((each) => ({ ...each, recoveryPlan: null })) })),
  ],
  [
    "a command once, one at a time",
    "every launch is a first attempt",
    writing(({ launches }) => ({ launches: launches.map((launch) => ({ ...launch, attempt: 1 })) })),
  ],
  [
    "an ended rollout stays ended, a settled node settled",
    "a cancelled rollout takes a start",
    believing(({ status }) => (status === "cancelled" ? { status: "pending" } : {})),
  ],
  [
    "an ending says what happened",
    "a forced rollout completes whatever failed",
    writing(({ rollout }) =>
      rollout.status === "failed" && rollout.forceContinue
        ? { rollout: { ...rollout, status: "completed" } }
        : {},
    ),
  ],
  [
    "an ending says what happened",
    "a rollout that upgraded nothing completes",
    writing(({ rollout }) =>
      rollout.why?.code === "NOTHING_UPGRADED" ? { rollout: { ...rollout, status: "completed" } } : {},
    ),
  ],
  [
    "an ending says what happened",
    "a canary that is the whole fleet completes without its approval",
    believing(({ batchCount }) => (batchCount === 1 ? { migrationType: "none" } : {})),
  ],
  [
    "a silent node holds its rollout for a bounded time",
    "nobody gives it up",
    {
      decide: (rows, now) =>
        decideRollout({ ...rows, signals: rows.signals.filter(({ kind }) => kind !== "give_up") }, now),
    },
  ],
  [
    "an idle step changes nothing",
    "every step leaves an event",
    writing(({ events }) => ({
      events: [...events, { kind: "rollout.batch", batch: 0, direction: "forward" }],
    })),
  ],
  ["everything ends or waits for a person", "nobody is woken up", writing(() => ({ wakeAt: null }))],
  [
    "a person can bring everything to its end",
    "a cancelled rollout keeps what has not begun",
    writing(() => ({ skipPending: false })),
  ],
  [
    "a person can bring everything to its end",
    "a group does not hear of its cancel",
    {
      decideGroup: (rows, now) =>
        decideGroup({ ...rows, signals: rows.signals.filter(({ kind }) => kind !== "cancel") }, now),
    },
  ],
];

/** Over a month a fault of one day meets the rollout of the next. */
const BROKEN_MONTHS: readonly (readonly [Rule, string, MonthParts])[] = [
  [
    "no verdict is lost",
    "late verdicts settle nothing",
    {
      decide: (rows, now) => {
        const isLate = (id: string): boolean =>
          rows.named.some((node) => node.nodeId === id && isGivenUp(node)) ||
          rows.batch.some((node) => node.nodeId === id && isGivenUp(node));
        return decideRollout({ ...rows, reports: rows.reports.filter(({ nodeId }) => !isLate(nodeId)) }, now);
      },
    },
  ],
  [
    "the record follows the machine",
    "heartbeats of nodes that were given up are not looked at",
    {
      decide: (rows, now) => decideRollout(unmeasured(rows), now),
    },
  ],
  [
    "every node ends in the state of its machine",
    "a node that enrolls again keeps its old record",
    { enrollmentClears: false },
  ],
  ["every node ends where its operator wants it", "an adoption records nothing", { adopts: false }],
  [
    "no job begins without authority",
    "a job that a full disk interrupted goes on after a restart without being authorized again",
    { asksAgain: false },
  ],
  ["nothing is signed while clocks disagree", "the gate before signatures stays open", { gateCloses: false }],
  [
    "one signed frame moves a node's time by a bounded amount",
    "a head that is far ahead is taken",
    { floorBounded: false },
  ],
  [
    "a corrected clock holds nothing up",
    "rows that were dated ahead stay as they are",
    { mendsDates: false },
  ],
  ["a person can bring everything to its end", "authority confirm-time is not heard", { confirms: false }],
  ["a person can bring everything to its end", "authority reset-time lowers no floor", { resets: false }],
  [
    "no component before its gate",
    "the watch between two components on the same nodes is left out",
    { decideGroup: (rows, now) => decideGroup({ ...rows, group: { ...rows.group, healthWaitMs: 0 } }, now) },
  ],
];

/** All that were broken until the wanted one was. */
function brokenBy(play: (seed: number) => unknown, wanted: Rule, seeds: number): Set<Rule> {
  const broken = new Set<Rule>();
  for (let seed = 1; seed <= seeds && !broken.has(wanted); seed++) {
    try {
      play(seed);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      broken.add(error.rule);
    }
  }
  return broken;
}

test.each(BROKEN)(
  "“%s” is noticed when %s",
  (rule, _how, parts) => {
    expect([...brokenBy((seed) => simulate(seed, parts), rule, SEEDS)]).toContain(rule);
  },
  60_000,
);

test.each(BROKEN_MONTHS)(
  "“%s” is noticed within a few months when %s",
  (rule, _how, parts) => {
    expect([...brokenBy((seed) => playMonth(seed, parts), rule, MONTHS)]).toContain(rule);
  },
  60_000,
);

test("every rule is broken by something here", () => {
  expect(new Set([...BROKEN, ...BROKEN_MONTHS].map(([rule]) => rule))).toEqual(new Set(RULES));
});
