/** The agents' side of the server. Who asks is known from its certificate before any of this runs. */
import type { FastifyInstance } from "fastify";
import { FairleadError } from "../../core/errors.ts";
import { Digest, type NodeId } from "../../core/ids.ts";
import { PollRequest, ReportRequest, type PollResponse } from "../../core/protocol/agent-api.ts";
import { keepJsonBytes } from "../api/json-bytes.ts";
import { parseBody } from "../api/parse-body.ts";
import type { Database } from "../db/database.ts";
import type { DeliveryQuery, FindDelivery } from "./deliveries.ts";
import { headReader } from "./heads.ts";
import { receivedHeartbeat } from "./heartbeat-body.ts";
import type { StoreHeartbeat } from "./heartbeats.ts";
import type { HeldParcels } from "./parcels.ts";
import type { Polls, Waiter } from "./polls.ts";
import type { StoreReports } from "./reports.ts";
import type { RevokedReader } from "./revoked.ts";
import type { Standings } from "./standings.ts";

export interface AgentRoutesDeps {
  readonly db: Database;
  readonly polls: Polls;
  readonly findDelivery: FindDelivery;
  readonly standings: Standings;
  readonly parcels: Pick<HeldParcels, "take">;
  readonly revocationPage: RevokedReader["page"];
  readonly storeHeartbeat: StoreHeartbeat;
  readonly storeReports: StoreReports;
  /** The node's own clock, as its heartbeat says. */
  readonly hearClock?: (nodeId: NodeId, clockMs: number) => void;
  readonly now: () => number;
}

export function registerAgentRoutes(app: FastifyInstance, deps: AgentRoutesDeps): void {
  app.post("/agent/v1/poll", async (request, reply) => {
    const body = parseBody(PollRequest, request.body);
    const waiter = deps.polls.register(request.nodeId);
    reply.raw.once("close", waiter.leave);
    const answer = await poll(deps, waiter, request.nodeId, body).finally(waiter.leave);
    if (answer === null) return reply.code(204).send();
    return answer instanceof Uint8Array ? reply.type("application/json").send(answer) : answer;
  });

  app.register(async (scope) => {
    const parseJson = keepJsonBytes(scope);
    scope.post("/agent/v1/heartbeat", async (request, reply) => {
      const received = receivedHeartbeat(request.nodeId, request.ip, request.body, parseJson);
      await deps.storeHeartbeat(received);
      if (received.clockMs !== null) deps.hearClock?.(request.nodeId, received.clockMs);
      return reply.code(204).send();
    });
  });

  app.post("/agent/v1/reports", async (request) =>
    deps.storeReports({ nodeId: request.nodeId, request: parseBody(ReportRequest, request.body) }),
  );

  app.get<{ Params: { digest: string } }>("/agent/v1/revocations/:digest", async (request, reply) => {
    const digest = parseBody(Digest, request.params.digest);
    return reply.type("application/octet-stream").send(await deps.revocationPage(request.nodeId, digest));
  });

  app.get<{ Params: { digest: string } }>("/agent/v1/blobs/:digest", async (request, reply) => {
    const digest = parseBody(Digest, request.params.digest);
    const [row] = await deps.db<{ bytes: Buffer }[]>`
      select b.bytes from blobs b where b.digest = ${digest} and exists (
        select 1 from rollout_configs rc join rollout_nodes rn on rn.rollout_id = rc.rollout_id
        where rc.sha256 = b.digest and rn.node_id = ${request.nodeId}
          and (rc.node_id is null or rc.node_id = rn.node_id))`;
    if (row === undefined) throw new FairleadError("NOT_FOUND", "no such config for this node");
    return reply.type("application/octet-stream").send(row.bytes);
  });
}

async function poll(
  deps: AgentRoutesDeps,
  waiter: Waiter,
  nodeId: NodeId,
  request: PollRequest,
): Promise<PollResponse | Uint8Array | null> {
  const { have, command_mark: mark, intent_serials: serials, head_issued_at, resync, wait_ms } = request;
  const until = deps.now() + wait_ms;
  const headIssuedAt = head_issued_at === null ? null : Date.parse(head_issued_at);
  const reader = headReader(request.capabilities);
  const query = { nodeId, have, mark, serials, headIssuedAt, resync, reader };
  for (;;) {
    const isCurrent = deps.standings.isCurrent(query);
    const answer = isCurrent ? null : (deps.parcels.take(query) ?? (await look(deps, query)));
    if (answer !== null) return answer;
    const left = until - deps.now();
    if (left <= 0 || waiter.hasLeft()) return null;
    await waiter.wait(left);
    if (waiter.hasLeft()) return null;
  }
}

async function look(
  { standings, findDelivery }: AgentRoutesDeps,
  query: DeliveryQuery,
): Promise<PollResponse | null> {
  const noteStanding = standings.looking(query.nodeId);
  const { answer, standing } = await findDelivery(query);
  noteStanding(standing);
  return answer;
}
