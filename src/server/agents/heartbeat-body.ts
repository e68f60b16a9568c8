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
  /** Where it came from. */
  readonly address?: string | null;
  /** Of everything but the time; null when the body is not laid out as agents write it. */
  readonly digest: string | null;
  /** The node's clock when it measured; null where the digest is. */
  readonly clockMs: number | null;
  /** Throws INVALID_INPUT. */
  read(): Heartbeat;
}

export function receivedHeartbeat(
  nodeId: NodeId,
  address: string,
  body: unknown,
  parseJson: (bytes: Buffer) => unknown,
): ReceivedHeartbeat {
  const bytes = Buffer.isBuffer(body) ? body : null;
  const time = bytes === null ? null : timeIn(bytes);
  return {
    nodeId,
    address,
    digest: time === null ? null : hash("sha256", bytes!.subarray(time.end), "base64"),
    clockMs: time === null ? null : Date.parse(time.text),
    read: () => parseBody(Heartbeat, bytes === null ? body : parseJson(bytes)),
  };
}

const HEAD = '{"at":"';
const QUOTE = 0x22;

function timeIn(body: Buffer): { readonly text: string; readonly end: number } | null {
  if (body.toString("latin1", 0, HEAD.length) !== HEAD) return null;
  const end = body.indexOf(QUOTE, HEAD.length);
  const text = end === -1 ? "" : body.toString("latin1", HEAD.length, end);
  return isInstant(text) ? { text, end } : null; // (1)
}
