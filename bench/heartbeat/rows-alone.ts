/** The limit: the statement that stores heartbeats, with nothing in front of it. */
import { NodeId } from "../../src/core/ids.ts";
import { upsertHeartbeats } from "../../src/server/agents/heartbeats.ts";
import type { Database } from "../../src/server/db/database.ts";
import type { EnrolledNode } from "../support/enroll.ts";
import { BEFORE, heartbeatOf } from "../support/heartbeat.ts";

/** As many statements at once as the server has under way. */
const LANES = 2;

/** Rows per second, all nodes in each statement. */
export async function upsertRate(
  db: Database,
  nodes: readonly EnrolledNode[],
  seconds: number,
): Promise<number> {
  const lanes = Array.from({ length: LANES }, (_, lane) =>
    nodes
      .filter((_node, at) => at % LANES === lane)
      .map(({ nodeId }) => ({
        nodeId: NodeId.parse(nodeId),
        heartbeat: heartbeatOf(BEFORE, {}),
        digest: null,
      })),
  );
  const until = performance.now() + seconds * 1000;
  let rows = 0;
  await Promise.all(
    lanes.map(async (items) => {
      while (performance.now() < until) {
        await upsertHeartbeats(db, items);
        rows += items.length;
      }
    }),
  );
  return rows / seconds;
}
