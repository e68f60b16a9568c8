// What Prometheus scrapes: the seven rollout metrics with their names and labels, and gauges that come from the rows.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { silentLogger } from "../../../src/host/log.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { createMetricsListener } from "../../../src/server/metrics/metrics-listener.ts";
import {
  countsOfStep,
  countStep,
  gaugeRollouts,
  type CommittedStep,
} from "../../../src/server/metrics/rollout-metrics.ts";
import { createServerMetrics, type ServerMetrics } from "../../../src/server/metrics/server-metrics.ts";
import { gaugeState } from "../../../src/server/metrics/state-metrics.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { parseExposition, type Sample } from "../../support/server/exposition.ts";
import { beat, insertNode, insertRollout, insertRolloutNode } from "../../support/server/health-rows.ts";
import { initializeSite, makeSite, startOperators, type Site } from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
});
afterAll(async () => {
  await site.remove();
  await databases.stop();
});

/** A replica, or the same server after a restart. */
function replica(): ServerMetrics {
  const metrics = createServerMetrics();
  gaugeRollouts(metrics, db);
  gaugeState(metrics, db);
  return metrics;
}

async function scrape(metrics: ServerMetrics) {
  const app = createMetricsListener(metrics, silentLogger);
  const answer = await app.inject({ url: "/metrics" });
  await app.close();
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["content-type"]).toContain("text/plain; version=0.0.4");
  return parseExposition(answer.body);
}

const step = (nodes: readonly { id: string; was: string; is: string }[], status: string): CommittedStep =>
  ({
    chain: "web",
    strategy: "rolling",
    startedAt: 1_000,
    wasActive: true,
    now: 61_000,
    batch: nodes.map(({ id, was }) => ({ nodeId: id as NodeId, status: was, launchedAt: 41_000 })),
    decision: { nodes: nodes.map(({ id, is }) => ({ nodeId: id, status: is })), rollout: { status } },
  }) as unknown as CommittedStep;

const valueOf = (samples: readonly Sample[], labels: object, name?: string): number | undefined =>
  samples.find(
    (sample) =>
      (name === undefined || sample.name === name) &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value;

describe("metrics (ROLL-20)", () => {
  test("ROLL-20: the seven rollout metrics have the seed's names, types and labels", async () => {
    const rollout = await insertRollout(db, { profile: "seven", total: 4, pending: 1 });
    await insertRolloutNode(db, rollout, await insertNode(db, "seven-1"), { phase: "MUTATING" });
    const metrics = replica();
    countStep(metrics, countsOfStep(step([{ id: "a", was: "in_progress", is: "succeeded" }], "completed")));
    const families = await scrape(metrics);
    const shape = (name: string) => {
      const { type, samples } = families.get(name)!;
      const labels = Object.keys(samples[0]!.labels).filter((label) => label !== "le");
      return [name, type, labels.toSorted()];
    };
    const seven: [string, string, string[]][] = [
      ["fairlead_rollout_total", "counter", ["chain", "status", "strategy"]],
      ["fairlead_rollout_duration_seconds", "histogram", ["chain", "status", "strategy"]],
      ["fairlead_rollout_node_upgrades_total", "counter", ["chain", "status"]],
      ["fairlead_rollout_node_upgrade_duration_seconds", "histogram", ["chain", "status"]],
      ["fairlead_rollout_active", "gauge", ["chain"]],
      ["fairlead_rollout_progress", "gauge", ["chain", "rollout_id"]],
      ["fairlead_rollout_node_phase", "gauge", ["chain", "phase", "rollout_id"]],
    ];
    expect(seven.map(([name]) => shape(name))).toEqual(seven);
    const named = [...families.keys()].filter((name) => name.startsWith("fairlead_rollout"));
    expect(named.toSorted()).toEqual(seven.map(([name]) => name).toSorted());
  });

  test("ROLL-20: gauges come from the rows: every replica answers the same, also right after its start", async () => {
    const rollout = await insertRollout(db, { profile: "gauged", total: 8, pending: 2 });
    for (const [name, phase] of Object.entries({ g1: "MUTATING", g2: "MUTATING", g3: "VERIFYING" }))
      await insertRolloutNode(db, rollout, await insertNode(db, name), { phase });
    const ended = await insertNode(db, "g4", { state: "degraded" });
    await insertRolloutNode(db, rollout, ended, { status: "succeeded", phase: "VERIFYING" });
    await db`
      insert into incidents (id, category, severity, node_id, title)
      values (${randomUUID()}, 'upgrade_failed', 'critical', ${ended}, 'x')`;
    const [one, two] = [await scrape(replica()), await scrape(replica())];
    const gauges = [
      "rollout_active",
      "rollout_progress",
      "rollout_node_phase",
      "nodes",
      "incidents_open",
      "webhook_deliveries_pending",
      "event_reader_lag",
    ].map((name) => `fairlead_${name}`);
    for (const name of gauges) expect(one.get(name)).toEqual(two.get(name));
    const samples = (name: string) => one.get(name)!.samples;
    expect(valueOf(samples("fairlead_rollout_active"), { chain: "gauged" })).toBe(1);
    expect(valueOf(samples("fairlead_rollout_progress"), { rollout_id: rollout })).toBe(0.75);
    const phases = samples("fairlead_rollout_node_phase").filter(
      ({ labels }) => labels["rollout_id"] === rollout,
    );
    expect(Object.fromEntries(phases.map(({ labels, value }) => [labels["phase"], value]))).toEqual({
      MUTATING: 2,
      VERIFYING: 1,
    });
    expect(valueOf(samples("fairlead_nodes"), { state: "degraded" })).toBe(1);
    expect(valueOf(samples("fairlead_incidents_open"), { category: "upgrade_failed" })).toBe(1);
  });

  test("ROLL-30: nodes are counted by their health as known now; silent and unreported ones are unknown", async () => {
    const before = (await scrape(replica())).get("fairlead_nodes_health")!.samples;
    const countOf = (samples: typeof before, health: string) => valueOf(samples, { health }) ?? 0;
    for (const [name, agoMs] of Object.entries({ h1: 0, h2: LIMITS.heartbeatLateMs, h3: 3_600_000 }))
      await beat(db, await insertNode(db, name), { agoMs });
    await beat(db, await insertNode(db, "h4"), { health: "critical" });
    await beat(db, await insertNode(db, "h5", { state: "down" }));
    await beat(db, await insertNode(db, "h6", { revoked: true }));
    await insertNode(db, "h7");
    const after = (await scrape(replica())).get("fairlead_nodes_health")!.samples;
    const added = ["ok", "degraded", "critical", "unknown"].map(
      (health) => countOf(after, health) - countOf(before, health),
    );
    expect(added).toEqual([1, 0, 1, 4]);
  });

  test("ROLL-20: a number that is none is written as the format has it", async () => {
    const metrics = replica();
    metrics.beforeScrape(async () => metrics.nodes.set({ state: "strange" }, Number.NaN));
    expect(valueOf((await scrape(metrics)).get("fairlead_nodes")!.samples, { state: "strange" })).toBeNaN();
  });

  test("ROLL-20: what is over is not reported any more", async () => {
    const rollout = await insertRollout(db, { profile: "over" });
    const metrics = replica();
    expect(valueOf((await scrape(metrics)).get("fairlead_rollout_active")!.samples, { chain: "over" })).toBe(
      1,
    );
    await db`update rollouts set status = 'completed' where id = ${rollout}`;
    const after = await scrape(metrics);
    expect(valueOf(after.get("fairlead_rollout_active")!.samples, { chain: "over" })).toBeUndefined();
    expect(valueOf(after.get("fairlead_rollout_progress")!.samples, { rollout_id: rollout })).toBeUndefined();
  });

  test("ROLL-20: a replica counts the steps that it committed: each end once, and what was skipped not at all", async () => {
    const metrics = replica();
    countStep(
      metrics,
      countsOfStep(
        step(
          [
            { id: "a", was: "in_progress", is: "succeeded" },
            { id: "b", was: "in_progress", is: "failed" },
            { id: "c", was: "succeeded", is: "succeeded" },
            { id: "d", was: "pending", is: "skipped" },
            { id: "e", was: "in_progress", is: "in_progress" },
          ],
          "running",
        ),
      ),
    );
    countStep(metrics, countsOfStep(step([], "completed")));
    const families = await scrape(metrics);
    const upgrades = families.get("fairlead_rollout_node_upgrades_total")!.samples;
    expect(upgrades.map(({ labels, value }) => [labels["status"], value])).toEqual([
      ["succeeded", 1],
      ["failed", 1],
    ]);
    const seconds = families.get("fairlead_rollout_node_upgrade_duration_seconds")!.samples;
    expect(
      valueOf(seconds, { status: "succeeded" }, "fairlead_rollout_node_upgrade_duration_seconds_sum"),
    ).toBe(20);
    const ended = { chain: "web", strategy: "rolling", status: "completed" };
    expect(valueOf(families.get("fairlead_rollout_total")!.samples, ended)).toBe(1);
    const durations = families.get("fairlead_rollout_duration_seconds")!.samples;
    expect(valueOf(durations, ended, "fairlead_rollout_duration_seconds_sum")).toBe(60);
    expect((await scrape(replica())).get("fairlead_rollout_total")!.samples).toEqual([]);
  });
});

test("ROLL-20: scrapes that arrive together read the rows once", async () => {
  let reads = 0;
  const metrics = createServerMetrics();
  metrics.beforeScrape(async () => {
    reads += 1;
    await db`select 1`;
  });
  const app = createMetricsListener(metrics, silentLogger);
  const answers = await Promise.all(Array.from({ length: 20 }, async () => app.inject({ url: "/metrics" })));
  expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true);
  expect(reads).toBe(1);
  await app.inject({ url: "/metrics" });
  expect(reads).toBe(2);
  await app.close();
});

test("ROLL-20: the metrics' address answers nothing but metrics", async () => {
  const app = createMetricsListener(createServerMetrics(), silentLogger);
  for (const url of ["/", "/api/v1/whoami", "/readyz", "/metrics/x"])
    expect((await app.inject({ url })).statusCode).toBe(404);
  expect((await app.inject({ method: "POST", url: "/metrics", payload: {} })).statusCode).toBe(404);
  await app.close();
});

test("ROLL-20: a request is labelled with its route's pattern, never with the address that was typed", async () => {
  const metrics = createServerMetrics();
  const operators = await startOperators(db, site, { metrics });
  await operators.inject({ url: "/api/v1/nodes/00000000-0000-4000-8000-00000000abcd" });
  await operators.inject({ url: "/api/v1/typed-by-a-stranger" });
  await operators.close();
  const labels = (await scrape(metrics))
    .get("fairlead_http_requests_total")!
    .samples.map((sample) => sample.labels);
  expect(labels).toContainEqual(
    expect.objectContaining({ listener: "operators", route: "/api/v1/nodes/:id" }),
  );
  expect(JSON.stringify(labels)).not.toMatch(/abcd|stranger/);
});
