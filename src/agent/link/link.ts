/** The agent's one way to its control plane: outbound, mutual TLS, everything bounded. */
import { randomInt } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { Digest } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import {
  PollResponse,
  ReceivedAnswers,
  RenewResponse,
  type Heartbeat,
  type PollRequest,
  type ReportRequest,
} from "../../core/protocol/agent-api.ts";
import { CAPABILITIES, PROTOCOL } from "../../core/protocol/agent-protocol.ts";
import { withStorableText } from "../../core/text.ts";
import { jsonOf, type HttpTarget } from "../../host/bounded-http.ts";
import type { Identity } from "../identity/store.ts";
import { olderHeartbeat, olderReports } from "./older-server.ts";
import { openReplicas, type ReplicaRequest } from "./replicas.ts";

const PAGE_BYTES_MAX = 256 * 1024;

/** The link itself says which protocol it speaks. */
export type PollQuestion = Omit<PollRequest, "protocol" | "capabilities">;

export interface Link {
  poll(request: PollQuestion, signal: AbortSignal): Promise<PollResponse | null>;
  heartbeat(heartbeat: Heartbeat, signal: AbortSignal): Promise<void>;
  /** Null: an older control plane, which answers nothing when it took all of them. */
  report(request: ReportRequest, signal: AbortSignal): Promise<ReceivedAnswers | null>;
  blob(digest: Digest): Promise<Buffer>;
  /** A page of what was revoked, as a head names it. */
  revocationPage(digest: Digest): Promise<Buffer>;
  renew(csr: string): Promise<string>;
  close(): void;
}

/** `others` are replicas besides the one that the node enrolled at. */
export function openLink(
  identity: Identity,
  others: () => readonly string[] = () => [],
  undated?: HttpTarget["undated"],
): Link {
  const { agent_url, ca, certificate_chain: cert, private_key: key } = identity;
  const replicas = openReplicas({
    first: agent_url,
    others,
    tls: { ca, cert, key, minVersion: "TLSv1.3" },
    ...(undated === undefined ? {} : { undated }),
    lot: shuffled,
  });
  const { send } = replicas;
  const post = (path: string, json: unknown, more: ReplicaRequest = {}) =>
    send(path, { method: "POST", json: withStorableText(json), ...more });

  return {
    async poll(request, signal) {
      const timeoutMs = request.wait_ms + 10_000;
      const older = { ...request, capabilities: [...CAPABILITIES] };
      const response = await post("/agent/v1/poll", { ...older, protocol: PROTOCOL } satisfies PollRequest, {
        signal,
        timeoutMs,
        maxResponseBytes: LIMITS.pollAnswerBytesMax,
        olderJson: withStorableText(older),
      });
      if (response.status === 204) return null;
      const parsed = PollResponse.safeParse(jsonOf(response));
      if (!parsed.success)
        throw new FairleadError("UNREACHABLE", "the server's answer to a poll is not understood");
      return parsed.data;
    },
    async heartbeat(heartbeat, signal) {
      const olderJson = withStorableText(olderHeartbeat(heartbeat));
      await post("/agent/v1/heartbeat", heartbeat, { signal, olderJson });
    },
    async report(request, signal) {
      const olderJson = withStorableText(olderReports(request));
      const response = await post("/agent/v1/reports", request, { signal, olderJson });
      return response.status === 204 ? null : answersIn(jsonOf(response));
    },
    async blob(digest) {
      const response = await send(`/agent/v1/blobs/${digest}`, {
        maxResponseBytes: LIMITS.configFileBytesMax,
      });
      return response.body;
    },
    async revocationPage(digest) {
      return (await send(`/agent/v1/revocations/${digest}`, { maxResponseBytes: PAGE_BYTES_MAX })).body;
    },
    async renew(csr) {
      return RenewResponse.parse(jsonOf(await post("/agent/v1/renew", { csr }))).certificate_chain;
    },
    close: () => replicas.close(),
  };
}

function answersIn(body: unknown): ReceivedAnswers {
  const parsed = ReceivedAnswers.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new FairleadError("UNREACHABLE", "the server's answer to reports is not understood");
}

function shuffled(urls: readonly string[]): string[] {
  const left = [...urls];
  return urls.map(() => left.splice(randomInt(left.length), 1)[0]!);
}
