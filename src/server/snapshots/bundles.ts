/** The newest trust bundle, as bytes for agents and as content for the server's own checks. */
import { FairleadError } from "../../core/errors.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { Database } from "../db/database.ts";

export interface StoredBundle {
  readonly version: number;
  readonly frame: string;
  readonly content: TrustBundle;
}

/** Kept in memory for as long as another replica may take to publish a newer one. */
const FRESH_MS = 1_000;

export function createBundleReader(db: Database, monotonic: () => number): () => Promise<StoredBundle> {
  let kept: { readonly at: number; readonly bundle: Promise<StoredBundle> } | null = null;
  return () => {
    if (kept === null || monotonic() - kept.at > FRESH_MS) {
      const bundle = readNewest(db);
      bundle.catch(() => (kept = null));
      kept = { at: monotonic(), bundle };
    }
    return kept.bundle;
  };
}

async function readNewest(db: Database): Promise<StoredBundle> {
  const [row] = await db<{ version: number; frame: Buffer; content: unknown }[]>`
    select version, frame, content from trust_bundles order by version desc limit 1`;
  if (row === undefined) throw new FairleadError("NOT_INITIALIZED", "this cluster has no trust bundle yet");
  return {
    version: row.version,
    frame: row.frame.toString("base64"),
    content: TrustBundle.parse(row.content),
  };
}
