/**
 * What snapshots say, stored under its hash and shared by all that say the same.
 *
 * 1. No foreign key names a content: nodes share it by the thousand, and each would ask for it. Whoever refers to contents
 *    holds a lock that whoever drops some excludes, until it is committed: what it found is there as long as it is named.
 */
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { pipelined } from "../db/pipelined.ts";
import type { SealedContent } from "../../trust/sealed-content.ts";

/** In one order, so that two publishers of the same contents cannot wait for each other in a circle. */
export async function storeContents(
  tx: Transaction,
  items: readonly { readonly content: SealedContent }[],
): Promise<void> {
  if (items.length === 0) return;
  const contents = new Map(items.map(({ content }) => [content.content_hash, content.bytes]));
  const hashes = [...contents.keys()].toSorted();
  await pipelined(
    () => tx`select pg_advisory_xact_lock_shared(${LOCKS.contents})`, // (1)
    () => tx`
      insert into snapshot_contents (content_hash, bytes)
      select c.hash, decode(c.bytes, 'base64')
      from unnest(${hashes}::text[], ${hashes.map((hash) => contents.get(hash)!.toString("base64"))}::text[]) as c(hash, bytes)
      on conflict do nothing`,
  );
}

/** That no version refers to any more. Young ones are spared: most come again soon. */
export async function dropUnusedContents(db: Database): Promise<void> {
  await db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.contents})`; // (1)
    await tx`
      delete from snapshot_contents c where c.created_at < now() - interval '1 day'
        and not exists (select 1 from snapshots s where s.content_hash = c.content_hash)
        and not exists (select 1 from snapshot_history h where h.content_hash = c.content_hash)`;
  });
}
