/**
 * The way from the version before to the next, where it is shorter than the next one whole (SNAP-6).
 * Nodes that go from the same content to the same content share the work of finding it.
 */
import type { Digest } from "../../core/ids.ts";
import type { IncrementContent } from "../../core/snapshot/increment.ts";
import { canonicalBytes } from "../../trust/canonical-json.ts";
import { signIncrement } from "../../trust/increment.ts";
import { incrementBetween } from "../../trust/increment-changes.ts";
import type { SealedContent } from "../../trust/sealed-content.ts";
import type { EnvelopeDraft, Signers } from "../../trust/snapshot.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import type { Transaction } from "../db/database.ts";
import type { CompiledItem } from "./compile-batch.ts";
import { keyOf, type LastPublished } from "./stored.ts";

export interface Increments {
  sign(
    draft: EnvelopeDraft,
    last: LastPublished,
    content: SealedContent,
    signers: Signers,
  ): { readonly base: number; readonly frame: Buffer } | null;
}

export const noIncrements: Increments = { sign: () => null };

export async function createIncrements(
  tx: Transaction,
  items: readonly CompiledItem[],
  before: ReadonlyMap<string, LastPublished>,
): Promise<Increments> {
  const hashes = items.flatMap((item) => {
    const last = before.get(keyOf(item));
    return last === undefined || last.contentHash === item.content.content_hash ? [] : [last.contentHash];
  });
  if (hashes.length === 0) return noIncrements;
  const rows = await tx<{ content_hash: Digest; bytes: Buffer }[]>`
    select content_hash, bytes from snapshot_contents where content_hash = any(${[...new Set(hashes)]})`;
  return incrementsFrom(new Map(rows.map((row) => [row.content_hash, row.bytes])));
}

function incrementsFrom(contents: ReadonlyMap<Digest, Buffer>): Increments {
  const found = new Map<string, IncrementContent | null>();
  return {
    sign(draft, last, content, signers) {
      const base = contents.get(last.contentHash);
      // What the node is comes whole and first: the rest of an answer is checked against it.
      if (draft.scope === "node_bootstrap" || base === undefined) return null;
      if (last.contentHash === content.content_hash) return null;
      const key = `${last.contentHash} ${content.content_hash}`;
      const known = found.get(key);
      const way = known === undefined ? shortest(base, content.bytes) : known;
      found.set(key, way);
      if (way === null) return null;
      const { frame } = signIncrement(
        {
          ...draft,
          base: { version: last.version, contentHash: last.contentHash },
          resultHash: content.content_hash,
          content: way,
        },
        signers,
      );
      return { base: last.version, frame };
    },
  };
}

/** An increment's header is longer by what it says of its base, and it is signed besides the full one. */
const SAVED_BYTES_MIN = 512;

/** Null when its frame would not be noticeably smaller than that of the content itself. */
function shortest(base: Buffer, next: Buffer): IncrementContent | null {
  if (next.length < SAVED_BYTES_MIN) return null;
  const way = incrementBetween(parseCanonical(base), parseCanonical(next));
  return way !== null && canonicalBytes(way).length + SAVED_BYTES_MIN <= next.length ? way : null;
}
