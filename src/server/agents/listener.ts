/**
 * The listener for agents: mutual TLS, and a check of the certificate at every request.
 *
 * 1. TLS trusts the agents' intermediate alone: a peer's, a server's or a root-issued certificate does not get in.
 * 2. Each request stands on a good serial of this cluster's registry and on this replica's lease. A connection
 *    remembers its node, so that the usual request costs two comparisons and no query.
 * 3. A revoked node's connections are destroyed before its revocation is acknowledged.
 * 4. No session is resumed: every connection shows its certificate.
 * 5. A node has a budget of requests; beyond it the answer is 429 with Retry-After, before the body is read.
 */
import { constants } from "node:crypto";
import type * as https from "node:https";
import type { TLSSocket } from "node:tls";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Clock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import { answerNotFound, handleErrors } from "../api/errors.ts";
import type { CertificateRegistry, CertificateStatus } from "../identity/certificate-registry.ts";
import type { ReplicaLease } from "../identity/replica-lease.ts";
import type { ServerCertificate } from "../identity/server-certificate.ts";
import type { SiteCa } from "../identity/site-ca.ts";
import { createPeerReader, type AgentPeer } from "./peer.ts";
import { createRequestBudget, type RequestBudget } from "./request-budget.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** On the agents' listener: who asks, by its certificate. */
    nodeId: NodeId;
  }
}

export interface AgentListenerDeps {
  readonly clusterId: ClusterId;
  readonly ca: SiteCa;
  readonly certificate: ServerCertificate;
  readonly registry: CertificateRegistry;
  readonly lease: ReplicaLease;
  readonly clock: Clock;
  readonly log: Logger;
  readonly budget?: RequestBudget;
}

/** Longer than the longest pause of an agent, or each heartbeat would pay for a handshake. */
const keepAliveTimeoutMs = 3 * LIMITS.heartbeatIntervalMs;
const requestTimeoutMs = 60_000;
const handshakeTimeoutMs = 10_000;

interface Connection {
  readonly peer: AgentPeer;
  readonly generation: number;
}

export function createAgentListener(deps: AgentListenerDeps): FastifyInstance<https.Server> {
  const { certificate, registry, lease, clock, budget = createRequestBudget() } = deps;
  const trust = {
    ca: deps.ca.agentAnchorPem, // (1)
    minVersion: "TLSv1.3",
    secureOptions: constants.SSL_OP_NO_TICKET, // (4)
  } as const;
  const app = Fastify({
    https: {
      ...certificate.current(),
      ...trust,
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout: handshakeTimeoutMs,
    },
    bodyLimit: LIMITS.agentRequestBytesMax,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    logger: false,
  });
  certificate.onRenewed((identity) => app.server.setSecureContext({ ...identity, ...trust }));
  handleErrors(app, deps.log);
  answerNotFound(app);

  const readPeer = createPeerReader(deps.ca, deps.clusterId);
  const connections = new WeakMap<TLSSocket, Connection>();
  const open = new Map<NodeId, Set<TLSSocket>>();
  lease.onRevoked((nodeId) => {
    for (const socket of open.get(nodeId) ?? []) socket.destroy(); // (3)
  });

  app.decorateRequest("nodeId", "" as NodeId);
  app.addHook("onRequest", (request, reply, settle) => {
    if (!lease.isHeld()) return settle(cutOff()); // before the database is asked: it may not answer
    const socket = request.raw.socket as TLSSocket;
    const connection = connections.get(socket);
    if (connection?.generation === registry.generation()) return finish(request, connection.peer, settle); // (2)
    identify(socket, connection?.peer).then(
      (peer) => finish(request, peer, settle),
      (error: Error) => {
        void reply.header("connection", "close");
        settle(error);
      },
    );
  });

  function finish(request: FastifyRequest, peer: AgentPeer, settle: (error?: Error) => void): void {
    if (!lease.isHeld()) return settle(cutOff());
    if (peer.notAfterMs <= clock.now()) return settle(refused("it has expired"));
    const waitMs = budget.take(peer.nodeId, clock.monotonic()); // (5)
    if (waitMs > 0) return settle(tooMany(Math.ceil(waitMs / 1000)));
    request.nodeId = peer.nodeId;
    settle();
  }

  async function identify(socket: TLSSocket, known: AgentPeer | undefined): Promise<AgentPeer> {
    const peer = known ?? readPeer(socket);
    for (;;) {
      const generation = registry.generation();
      const status = registry.known(peer.serial) ?? (await registry.look(peer.serial));
      if (generation !== registry.generation()) continue;
      // No await from here: a revocation came before, and was read, or comes after, and finds the socket.
      refuseUnlessGood(status, peer);
      connections.set(socket, { peer, generation });
      if (known === undefined) track(socket, peer.nodeId);
      return peer;
    }
  }

  function track(socket: TLSSocket, nodeId: NodeId): void {
    if (socket.destroyed) return;
    const sockets = open.get(nodeId) ?? new Set();
    open.set(nodeId, sockets.add(socket));
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0 && open.get(nodeId) === sockets) open.delete(nodeId);
    });
  }

  return app;
}

function refuseUnlessGood(status: CertificateStatus, peer: AgentPeer): void {
  if (status.kind === "unknown") throw refused("it is not in this cluster's registry");
  if (status.nodeId !== peer.nodeId) throw refused("it is registered for another node");
  if (status.kind === "revoked") throw new FairleadError("NODE_REVOKED", `node ${peer.nodeId} was revoked`);
}

const cutOff = (): FairleadError =>
  new FairleadError("NOT_READY", "this replica is cut off from its database");

const tooMany = (seconds: number): FairleadError =>
  new FairleadError("TOO_MANY_REQUESTS", `this node sends too many requests: try again in ${seconds} s`, {
    retry_after_seconds: seconds,
  });

const refused = (why: string): FairleadError =>
  new FairleadError("CERTIFICATE_REFUSED", `the certificate is refused: ${why}`);
