/**
 * What is revoked for this node, as its head says (SNAP-10): what the head names itself, and the pages that it names.
 *
 * 1. Until every page is here, nobody knows all that was revoked: no head counts as fresh, and what was known to be
 *    revoked before stays so.
 * 2. A page is what its digest in the signed head says, and nothing else; one that is damaged is asked for again.
 * 3. A page that cannot be fetched stops none behind it, and is asked for last the next time. Pages that arrived count at
 *    once. When nobody answers for two pages in a row, the control plane is away and the fetch ends.
 * 4. Pages are stored twice: a damaged file loses no revocation that was known (ADR 25).
 */
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { Digest } from "../../core/ids.ts";
import type { Revocation } from "../../core/snapshot/revocation.ts";
import { digestOf } from "../../trust/digest.ts";
import type { VerifiedHead } from "../../trust/head.ts";
import { openPage } from "../../trust/revocation-page.ts";
import type { StoreCore } from "./core.ts";
import { reloadFollowing } from "./reload.ts";
import { filesOf } from "./state.ts";

export interface KnownRevoked {
  readonly list: readonly Revocation[];
  readonly missing: readonly Digest[];
}

export const NONE_REVOKED: KnownRevoked = { list: [], missing: [] };

/** The head in force; else the last one taken, which may be verifiable no more (heads.ts). */
const revokingHead = ({ head, remembered }: StoreCore): VerifiedHead | null => head ?? remembered;

const pageName = (digest: Digest): string => `revoked.${digest.slice("sha256:".length)}.page`;

/** Every file that is still needed. */
export const filesKept = (core: StoreCore): string[] => [
  ...filesOf(core.state()),
  ...(revokingHead(core)?.content.revoked_pages ?? []).map(pageName),
];

/** After the head, or a page of it, changed; answers whether what is revoked did. */
export async function learnRevoked(core: StoreCore): Promise<boolean> {
  const before = core.revoked;
  const { revoked = [], revoked_pages: pages = [] } = revokingHead(core)?.content ?? {};
  const list: Revocation[] = [...revoked];
  const missing: Digest[] = [];
  for (const digest of pages) {
    const bytes = await core.frames.read(pageName(digest), (read) => digestOf(read) === digest);
    const page = bytes === null ? null : openPage(digest, bytes); // (2)
    if (page === null) missing.push(digest);
    else list.push(...page);
  }
  core.revoked = { list: missing.length === 0 ? list : united(list, before.list), missing }; // (1)
  return JSON.stringify(core.revoked.list) !== JSON.stringify(before.list);
}

function united(...lists: readonly (readonly Revocation[])[]): readonly Revocation[] {
  const byName = new Map(lists.flat().map((each) => [`${each.kind} ${each.id}`, each]));
  return [...byName.values()];
}

export interface UndeliveredPage {
  readonly digest: Digest;
  readonly code: ErrorCode;
  readonly reason: string;
}

const UNANSWERED_MAX = 2;

/** Fetches what the head names and is not here; answers with the pages that were asked for in vain. (3) */
export async function fetchRevoked(
  core: StoreCore,
  fetch: (digest: Digest) => Promise<Uint8Array>,
): Promise<UndeliveredPage[]> {
  const { missing } = core.revoked;
  if (missing.length === 0) return [];
  const isLast = (digest: Digest): boolean => core.undelivered.has(digest);
  const queue = [...missing.filter((digest) => !isLast(digest)), ...missing.filter(isLast)];
  const undelivered: UndeliveredPage[] = [];
  let unanswered = 0;
  try {
    for (const digest of queue) {
      const failure = await fetchPage(core, digest, fetch);
      if (failure !== null) undelivered.push(failure);
      unanswered = failure?.code === "UNREACHABLE" ? unanswered + 1 : 0;
      if (unanswered === UNANSWERED_MAX) break;
    }
  } finally {
    if (await learnRevoked(core)) await reloadFollowing(core);
  }
  core.undelivered = new Set(undelivered.map(({ digest }) => digest));
  if (core.revoked.missing.length === 0) {
    await core.frames.sweep(filesKept(core));
    core.notify("head");
  }
  return undelivered;
}

async function fetchPage(
  core: StoreCore,
  digest: Digest,
  fetch: (digest: Digest) => Promise<Uint8Array>,
): Promise<UndeliveredPage | null> {
  try {
    const bytes = await fetch(digest);
    if (openPage(digest, bytes) === null)
      return {
        digest,
        code: "SNAPSHOT_HASH_MISMATCH",
        reason: "the page has other bytes than the head names",
      }; // (2)
    await core.frames.storeTwice(pageName(digest), bytes); // (4)
    return null;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return { digest, code: error.code, reason: error.message };
  }
}
