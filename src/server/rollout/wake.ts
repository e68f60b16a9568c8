/** Tells every replica which nodes have something new, once per commit. Lost with a connection? All are looked up when it is back. */
import type { NodeId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";

export const NODES_CHANNEL = "fairlead_nodes";
export const EVERYONE = "*";
/** A notification carries 8,000 bytes at most: who tells, and 200 ids of 36 characters with their commas. */
const IDS_PER_NOTIFY = 200;

export interface Notice {
  /** The replica that tells; empty where nobody has told its own waiters yet. */
  readonly from: string;
  readonly nodeIds: readonly NodeId[];
}

export function readNotice(text: string): Notice {
  const [ids = "", from = ""] = text.split(":").toReversed(); // a trigger names ids alone
  return { from, nodeIds: ids.split(",") as NodeId[] };
}

export async function notifyNodes(
  tx: Transaction,
  nodeIds: readonly NodeId[],
  from: Notice["from"] = "",
): Promise<void> {
  const parts: string[] = [];
  for (let at = 0; at < nodeIds.length; at += IDS_PER_NOTIFY)
    parts.push(`${from}:${nodeIds.slice(at, at + IDS_PER_NOTIFY).join(",")}`);
  if (parts.length > 0)
    await tx`select pg_notify(${NODES_CHANNEL}, ids) from unnest(${parts}::text[]) as ids`;
}
