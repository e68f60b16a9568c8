/** The console's own files and a rollout of as many nodes as one likes, without a fleet behind it: for what only size shows. */
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { z } from "zod";
import type {
  EventView,
  NodeUpgradeList,
  NodeUpgradeView,
  RolloutView,
  WhoAmI,
} from "../../../src/core/protocol/operator-api.ts";
import { UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";

const CONSOLE = "dist/console";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const DIGEST = `sha256:${"1".repeat(64)}`;
const AT = "2026-01-01T00:00:00.000Z";
export const ROLLOUT_ID = "3f2a0000-0000-4000-8000-000000000001";

const nodeIdOf = (index: number): string =>
  `${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;

export type FakeFleet = Awaited<ReturnType<typeof startFakeFleet>>;

export async function startFakeFleet(nodeCount: number, batchSize: number) {
  const readers = new Set<ServerResponse>();
  const actions = new Map<number, number>();
  let lastEvent = 0;
  const json = (response: ServerResponse, body: unknown): void => {
    response.writeHead(200, { "content-type": "application/json", date: new Date().toUTCString() });
    response.end(JSON.stringify(body));
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url!, "http://fleet");
    const path = url.pathname.replace("/api/v1", "");
    if (!url.pathname.startsWith("/api/")) return void serveFile(url.pathname, response);
    if (path === "/whoami") return json(response, WHO);
    if (path === "/incidents") return json(response, { incidents: [], next_cursor: null });
    if (path.endsWith("/events") && path.startsWith("/rollouts/")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": hello\n\n");
      readers.add(response);
      return void response.once("close", () => readers.delete(response));
    }
    if (path.startsWith("/nodes/")) return json(response, { events: [], next_cursor: null });
    if (path.endsWith("/nodes")) {
      const from = Number(url.searchParams.get("cursor") ?? 0);
      return json(
        response,
        pageOf(nodeCount, batchSize, actions, from, Number(url.searchParams.get("limit"))),
      );
    }
    return json(response, rolloutOf(nodeCount, batchSize));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));

  function say(node: number, data: object): void {
    lastEvent += 1;
    const event = {
      id: lastEvent,
      at: new Date().toISOString(),
      kind: "node.upgrade",
      rollout_id: ROLLOUT_ID,
      group_id: null,
      node_id: nodeIdOf(node),
      actor: null,
      data,
    } as unknown as EventView;
    const text = `id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
    for (const reader of readers) reader.write(text);
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    readers: () => readers.size,
    /** The node begins its next action. */
    tell(node: number, action: number): void {
      const { name, phase } = UPGRADE_ACTIONS[action % UPGRADE_ACTIONS.length]!;
      actions.set(node, action % UPGRADE_ACTIONS.length);
      say(node, { status: "in_progress", phase, action: name, error: null });
    },
    fail(node: number, code: string, text: string): void {
      say(node, { status: "failed", phase: null, action: null, error: { code, text } });
    },
    async stop(): Promise<void> {
      for (const reader of readers) reader.destroy();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function serveFile(path: string, response: ServerResponse): Promise<void> {
  const file = extname(path) === "" ? "/index.html" : path;
  const bytes = await readFile(join(CONSOLE, file)).catch(() => null);
  response.writeHead(bytes === null ? 404 : 200, { "content-type": TYPES[extname(file)] ?? "text/plain" });
  response.end(bytes);
}

const WHO = {
  user: "key:first-admin",
  scopes: ["admin"],
  cluster_id: "c0000000-0000-4000-8000-000000000001",
  intents_required: true,
} satisfies Record<keyof z.infer<typeof WhoAmI>, unknown>;

const rolloutOf = (total: number, batchSize: number) =>
  ({
    id: ROLLOUT_ID,
    group_id: null,
    component_index: null,
    chain_profile_id: "harbor",
    node_type: "full",
    node_labels: {},
    upgrade_id: "v2",
    runtime: "process",
    binary_name: "harbor",
    source_version: "1.0.0",
    target_version: "2.0.0",
    target_binary_url: "https://dl.example/harbor",
    target_binary_checksum: DIGEST,
    manifest_content_hash: DIGEST,
    migration_type: "none",
    rollback_tier: 1,
    strategy: "rolling",
    canary_size: 0,
    force_continue: false,
    skip_validation: false,
    max_unavailable: null,
    batch_size: batchSize,
    batch_count: Math.ceil(total / batchSize),
    current_batch: 0,
    failure_threshold: 0.1,
    health_wait_seconds: 60,
    health_until: null,
    status: "running",
    pause_requested: false,
    cancel_requested: false,
    rollback_requested: false,
    rollback_allowed: true,
    canary_approved_by: null,
    canary_approved_at: null,
    why: { code: "UPGRADING", text: "batch 1: nodes at work" },
    silent_nodes: 0,
    counters: {
      total,
      pending: total,
      in_progress: 0,
      succeeded: 0,
      failed: 0,
      rolled_back: 0,
      failed_rollback: 0,
      skipped: 0,
    },
    intent: null,
    created_by: "key:first-admin",
    created_at: AT,
    started_at: AT,
    ended_at: null,
  }) satisfies Record<keyof RolloutView, unknown>;

function pageOf(
  total: number,
  batchSize: number,
  actions: ReadonlyMap<number, number>,
  from: number,
  limit: number,
) {
  const until = Math.min(total, from + limit);
  const nodes = Array.from({ length: until - from }, (_, at) => {
    const node = {
      node_id: nodeIdOf(from + at),
      node_name: `node-${from + at}`,
      batch_index: Math.floor((from + at) / batchSize),
      ...placeOf(actions.get(from + at)),
      progress_pct: 0,
      waiting_for: null,
      direction: "forward",
      attempt_count: 0,
      previous_version: "1.0.0",
      previous_checksum: DIGEST,
      error_code: null,
      error_message: null,
      retry_requested: false,
      silent_since: null,
      started_at: null,
      ended_at: null,
    } satisfies Record<keyof NodeUpgradeView, unknown>;
    return node;
  });
  return { nodes, next_cursor: until < total ? String(until) : null } satisfies Record<
    keyof z.infer<typeof NodeUpgradeList>,
    unknown
  >;
}

function placeOf(action: number | undefined) {
  if (action === undefined)
    return { status: "pending", upgrade_phase: null, action_index: null, action_name: null };
  const { phase, name } = UPGRADE_ACTIONS[action]!;
  return { status: "in_progress", upgrade_phase: phase, action_index: action, action_name: name };
}
