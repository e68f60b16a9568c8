/**
 * What snapshots say, stored under its hash and shared by all that say the same.
 *
 * 1. No foreign key names a content: nodes share it by the thousand, and each would ask for it. Only one that was not
 *    published for a day is dropped, so whoever publishes an old one makes it young first. If it is being dropped at that
 *    moment, that waits until it is gone, and it is stored again; if somebody is about to drop it, he finds it young.
 */
import type { SealedContent } from "../../trust/sealed-content.ts";
import type { Database, Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";

/** In one order, so that two publishers of the same contents cannot wait for each other in a circle. */
export async function storeContents(
  tx: Transaction,
  items: readonly { readonly content: SealedContent }[],
): Promise<void> {
  if (items.length === 0) return;
  const contents = new Map(items.map(({ content }) => [content.content_hash, content.bytes]));
  const hashes = [...contents.keys()].toSorted();
  const bytes = hashes.map((hash) => contents.get(hash)!.toString("base64"));
  await pipelined(
    () => tx`
      with old as materialized (
        select content_hash from snapshot_contents
        where content_hash = any(${hashes}) and created_at < now() - interval '12 hours'
        order by content_hash for no key update)
      update snapshot_contents c set created_at = now() from old where c.content_hash = old.content_hash`, // (1)
    () => tx`
      insert into snapshot_contents (content_hash, bytes)
      select c.hash, decode(c.bytes, 'base64') from unnest(${hashes}::text[], ${bytes}::text[]) as c(hash, bytes)
      on conflict do nothing`,
  );
}

/** That no version refers to any more. */
export async function dropUnusedContents(db: Database): Promise<void> {
  await db`
    delete from snapshot_contents c where c.created_at < now() - interval '1 day'
      and not exists (select 1 from snapshots s where s.content_hash = c.content_hash)
      and not exists (select 1 from snapshot_history h where h.content_hash = c.content_hash)`;
}
