/** The one cluster of this site. */
import { randomUUID } from "node:crypto";
import { ClusterId } from "../../core/ids.ts";
import type { Database } from "../db/database.ts";

/** Makes it on the first start; of two replicas that start at once, both get the same one. */
export async function ensureCluster(db: Database): Promise<ClusterId> {
  await db`insert into clusters (id) values (${randomUUID()}) on conflict do nothing`;
  const [row] = await db<{ id: string }[]>`select id from clusters`;
  return ClusterId.parse(row?.id);
}
