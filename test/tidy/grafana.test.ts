// The dashboard in deploy/grafana is what its script writes, and asks for metrics that the server has.

import { expect, test } from "vitest";
import { dashboardText } from "../../scripts/grafana/dashboard.ts";
import { createServerMetrics } from "../../src/server/metrics/server-metrics.ts";
import { readSource } from "./repository.ts";

const METRIC = /\bfairlead_[a-z0-9_]+/g;
const familyOf = (name: string, known: ReadonlySet<string>): string =>
  known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");

async function exported(): Promise<Set<string>> {
  const { text } = await createServerMetrics().scrape();
  return new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name));
}

const unknown = (text: string, known: ReadonlySet<string>): string[] =>
  [...text.matchAll(METRIC)].map(([name]) => name).filter((name) => !known.has(familyOf(name, known)));

test("ROLL-20: the dashboard is the one that its script writes", () => {
  expect(readSource("deploy/grafana/fairlead.json").text).toBe(dashboardText());
});

test("ROLL-20: it names only metrics that exist, and every one of the rollouts", async () => {
  const known = await exported();
  const { text } = readSource("deploy/grafana/fairlead.json");
  expect(unknown(text, known)).toEqual([]);
  const rollout = [...known].filter((name) => name.startsWith("fairlead_rollout"));
  expect(rollout).toHaveLength(7);
  for (const name of rollout) expect(text).toContain(name);
});

test("a metric that does not exist is found", async () => {
  const known = await exported();
  const text = "rate(fairlead_rollout_totals[5m]) + fairlead_rollout_duration_seconds_bucket";
  expect(unknown(text, known)).toEqual(["fairlead_rollout_totals"]);
});
