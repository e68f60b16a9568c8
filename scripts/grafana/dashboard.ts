/**
 * The Grafana dashboard, as data. Gauges are the same on every replica, so the greatest of them is shown; counters are
 * each replica's own, so they are summed.
 */

type Unit = "short" | "percentunit" | "s" | "ops" | "reqps";

interface PanelSpec {
  readonly title: string;
  readonly about: string;
  readonly kind: "timeseries" | "stat" | "bargauge";
  readonly unit: Unit;
  readonly queries: readonly (readonly [legend: string, expression: string])[];
}

const gauge = (metric: string, by: string) => `max by (${by}) (${metric})`;
const increase = (metric: string, by: string) => `sum by (${by}) (increase(${metric}[$__range]))`;
const rate = (metric: string, by: string) => `sum by (${by}) (rate(${metric}[$__rate_interval]))`;
const quantile = (q: number, metric: string, by: string) =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket[$__rate_interval])))`;

const ROWS: readonly { readonly title: string; readonly panels: readonly PanelSpec[] }[] = [
  {
    title: "Rollouts",
    panels: [
      {
        title: "Active rollouts",
        about: "Not over yet, by chain profile.",
        kind: "stat",
        unit: "short",
        queries: [["{{chain}}", gauge("fairlead_rollout_active", "chain")]],
      },
      {
        title: "Progress",
        about: "Share of nodes that are done.",
        kind: "bargauge",
        unit: "percentunit",
        queries: [["{{chain}} {{rollout_id}}", gauge("fairlead_rollout_progress", "chain, rollout_id")]],
      },
      {
        title: "Nodes by upgrade phase",
        about: "Where the nodes at work are.",
        kind: "timeseries",
        unit: "short",
        queries: [["{{chain}} {{phase}}", gauge("fairlead_rollout_node_phase", "chain, rollout_id, phase")]],
      },
      {
        title: "Rollouts ended",
        about: "In the time shown, by how they ended.",
        kind: "stat",
        unit: "short",
        queries: [["{{chain}} {{status}}", increase("fairlead_rollout_total", "chain, strategy, status")]],
      },
      {
        title: "Rollout duration",
        about: "Median, from start to end.",
        kind: "timeseries",
        unit: "s",
        queries: [
          [
            "{{chain}} {{status}}",
            quantile(0.5, "fairlead_rollout_duration_seconds", "chain, strategy, status"),
          ],
        ],
      },
    ],
  },
  {
    title: "Node upgrades",
    panels: [
      {
        title: "Upgrades ended",
        about: "By how they ended.",
        kind: "timeseries",
        unit: "ops",
        queries: [["{{chain}} {{status}}", rate("fairlead_rollout_node_upgrades_total", "chain, status")]],
      },
      {
        title: "Upgrade duration",
        about: "Median and 95th percentile, from launch to end.",
        kind: "timeseries",
        unit: "s",
        queries: [0.5, 0.95].map((q) => [
          `p${q * 100} {{chain}} {{status}}`,
          quantile(q, "fairlead_rollout_node_upgrade_duration_seconds", "chain, status"),
        ]),
      },
      {
        title: "Nodes by state",
        about: "Enrolled nodes that are not revoked.",
        kind: "timeseries",
        unit: "short",
        queries: [["{{state}}", gauge("fairlead_nodes", "state")]],
      },
      {
        title: "Nodes by health",
        about: "As known now: nodes that are late or down are unknown.",
        kind: "timeseries",
        unit: "short",
        queries: [["{{health}}", gauge("fairlead_nodes_health", "health")]],
      },
    ],
  },
  {
    title: "Incidents and notifications",
    panels: [
      {
        title: "Unresolved incidents",
        about: "What a person must look at.",
        kind: "stat",
        unit: "short",
        queries: [["{{category}}", gauge("fairlead_incidents_open", "category, severity")]],
      },
      {
        title: "Webhook deliveries",
        about: "Attempts, by what became of them.",
        kind: "timeseries",
        unit: "ops",
        queries: [["{{outcome}}", rate("fairlead_webhook_deliveries_total", "outcome")]],
      },
      {
        title: "Waiting to be told",
        about:
          "Deliveries that wait, and events that a reader has not dealt with: NATS or a receiver is away.",
        kind: "timeseries",
        unit: "short",
        queries: [
          ["webhook deliveries", "max(fairlead_webhook_deliveries_pending)"],
          ["events for {{reader}}", gauge("fairlead_event_reader_lag", "reader")],
        ],
      },
      {
        title: "NATS messages",
        about: "Taken by NATS.",
        kind: "timeseries",
        unit: "ops",
        queries: [["messages", "sum(rate(fairlead_nats_messages_total[$__rate_interval]))"]],
      },
    ],
  },
  {
    title: "Control plane",
    panels: [
      {
        title: "Requests",
        about: "By listener and answer.",
        kind: "timeseries",
        unit: "reqps",
        queries: [["{{listener}} {{status}}", rate("fairlead_http_requests_total", "listener, status")]],
      },
      {
        title: "Time to answer",
        about: "95th percentile by listener.",
        kind: "timeseries",
        unit: "s",
        queries: [["{{listener}}", quantile(0.95, "fairlead_http_request_duration_seconds", "listener")]],
      },
      {
        title: "Heartbeats and snapshots",
        about: "Stored and compiled, by what became of them.",
        kind: "timeseries",
        unit: "ops",
        queries: [
          ["heartbeats {{outcome}}", rate("fairlead_heartbeats_total", "outcome")],
          ["snapshots {{outcome}}", rate("fairlead_snapshots_total", "outcome")],
        ],
      },
    ],
  },
];

const COLUMNS = 24;
const PANEL = { width: 8, height: 8 } as const;
const datasource = { type: "prometheus", uid: "${datasource}" } as const;

function makeDashboard() {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: specs } of ROWS) {
    const row = { type: "row", title, collapsed: false, panels: [] };
    panels.push({ id: panels.length + 1, ...row, gridPos: { x: 0, y, w: COLUMNS, h: 1 } });
    y += 1;
    for (const [i, spec] of specs.entries()) {
      const x = (i * PANEL.width) % COLUMNS;
      if (i > 0 && x === 0) y += PANEL.height;
      const gridPos = { x, y, w: PANEL.width, h: PANEL.height };
      panels.push({ id: panels.length + 1, ...panelOf(spec), gridPos });
    }
    y += PANEL.height;
  }
  return {
    uid: "fairlead",
    title: "Fairlead",
    tags: ["fairlead"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: "10s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }],
    },
    panels,
  };
}

const panelOf = ({ title, about, kind, unit, queries }: PanelSpec) => ({
  type: kind,
  title,
  description: about,
  datasource,
  fieldConfig: { defaults: { unit, ...(unit === "percentunit" ? { min: 0, max: 1 } : {}) }, overrides: [] },
  targets: queries.map(([legendFormat, expr], i) => ({
    refId: String.fromCodePoint("A".codePointAt(0)! + i),
    datasource,
    expr,
    legendFormat,
  })),
});

export const dashboardText = (): string => `${JSON.stringify(makeDashboard(), null, 2)}\n`;
