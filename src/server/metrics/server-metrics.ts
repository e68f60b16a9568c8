/**
 * The server's metrics by name. The rollout ones are the seed's seven, with its suffixes and labels (ROLL-20).
 *
 * Gauges are read from the rows: every replica answers the same. A counter or histogram holds what this replica did since
 * it started (the steps it committed, the requests it answered): sum over replicas, and use rates.
 */
import { createMetricRegistry } from "./metrics.ts";

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
const UPGRADE_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600];
const ROLLOUT_SECONDS = [10, 30, 60, 300, 900, 3_600, 4 * 3_600, 24 * 3_600, 7 * 24 * 3_600];

export type ServerMetrics = ReturnType<typeof createServerMetrics>;

export function createServerMetrics() {
  const registry = createMetricRegistry();
  const { counter, gauge, histogram, scrape, beforeScrape } = registry;
  return {
    scrape,
    beforeScrape,
    httpRequests: counter("http_requests_total", "Requests answered.", [
      "listener",
      "method",
      "route",
      "status",
    ]),
    httpSeconds: histogram(
      "http_request_duration_seconds",
      "Time to answer.",
      ["listener", "route"],
      REQUEST_SECONDS,
    ),
    heartbeats: counter("heartbeats_total", "Heartbeats of agents, by what became of them.", ["outcome"]),
    snapshots: counter("snapshots_total", "Snapshots that were compiled, by what became of them.", [
      "outcome",
    ]),
    snapshotSetSeconds: histogram(
      "snapshot_set_duration_seconds",
      "Time to compile, sign and store one set of snapshots.",
      [],
      REQUEST_SECONDS,
    ),

    nodes: gauge("nodes", "Enrolled nodes that are not revoked.", ["state"]),
    nodesHealth: gauge(
      "nodes_health",
      "Enrolled nodes that are not revoked, by what is known of their programs now; silent ones are unknown.",
      ["health"],
    ),
    incidentsOpen: gauge("incidents_open", "Incidents that nobody has resolved.", ["category", "severity"]),
    webhookDeliveries: counter("webhook_deliveries_total", "Attempts to deliver, by what became of them.", [
      "outcome",
    ]),
    webhookDeliveriesPending: gauge("webhook_deliveries_pending", "Deliveries that wait to be sent.", []),
    natsMessages: counter("nats_messages_total", "Messages that NATS has taken.", []),
    eventReaderLag: gauge("event_reader_lag", "Events that a reader has not dealt with.", ["reader"]),

    rolloutTotal: counter("rollout_total", "Rollouts that ended.", ["chain", "strategy", "status"]),
    rolloutSeconds: histogram(
      "rollout_duration_seconds",
      "From start to end of a rollout.",
      ["chain", "strategy", "status"],
      ROLLOUT_SECONDS,
    ),
    nodeUpgrades: counter("rollout_node_upgrades_total", "Node upgrades that ended.", ["chain", "status"]),
    nodeUpgradeSeconds: histogram(
      "rollout_node_upgrade_duration_seconds",
      "From launch to end of a node's upgrade.",
      ["chain", "status"],
      UPGRADE_SECONDS,
    ),
    rolloutActive: gauge("rollout_active", "Rollouts that are not over.", ["chain"]),
    rolloutProgress: gauge("rollout_progress", "Share of nodes done, 0 to 1.", ["chain", "rollout_id"]),
    rolloutNodePhase: gauge("rollout_node_phase", "Nodes per upgrade phase.", [
      "chain",
      "rollout_id",
      "phase",
    ]),
  };
}
