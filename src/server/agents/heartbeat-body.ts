/**
 * A heartbeat as it came over the wire.
 *
 * 1. Two bodies with one digest differ in their time alone, which is checked here and is no part of the row. Where one
 *    was found valid and stored, the other need not be parsed.
 */
import { hash } from "node:crypto";
import { isInstant, type NodeId } from "../../core/ids.ts";
import { Heartbeat } from "../../core/protocol/agent-api.ts";
import { parseBody } from "../api/parse-body.ts";

export interface ReceivedHeartbeat {
  readonly nodeId: NodeId;
  /** Of everything but the time; null when the body is not laid out as agents write it. */
  readonly digest: string | null;
  /** Throws INVALID_INPUT. */
  read(): Heartbeat;
}

export const receivedHeartbeat = (
  nodeId: NodeId,
  body: unknown,
  parseJson: (bytes: Buffer) => unknown,
): ReceivedHeartbeat => ({
  nodeId,
  digest: Buffer.isBuffer(body) ? digestWithoutTime(body) : null,
  read: () => parseBody(Heartbeat, Buffer.isBuffer(body) ? parseJson(body) : body),
});

const HEAD = '{"at":"';
const QUOTE = 0x22;

function digestWithoutTime(body: Buffer): string | null {
  if (body.toString("latin1", 0, HEAD.length) !== HEAD) return null;
  const end = body.indexOf(QUOTE, HEAD.length);
  if (end === -1 || !isInstant(body.toString("latin1", HEAD.length, end))) return null; // (1)
  return hash("sha256", body.subarray(end), "base64");
}
