/** The newest trust bundle, as bytes for agents and as content for the server's own checks. */
import { FairleadError } from "../../core/errors.ts";
import type { Digest } from "../../core/ids.ts";
import { isNewer, type SnapshotVersion } from "../../core/snapshot/envelope.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { digestOf } from "../../trust/digest.ts";
import { decodeFrame } from "../../trust/frame.ts";
import type { Database } from "../db/database.ts";

export interface StoredBundle {
  readonly epoch: number;
  readonly version: number;
  readonly contentHash: Digest;
  readonly frame: string;
  readonly content: TrustBundle;
  /** Older ones that no node may skip, oldest first: they opened an epoch, or changed the root that signs the next. */
  readonly landmarks: readonly (SnapshotVersion & { readonly frame: string })[];
}

/** As many as an answer has room for beside the other scopes; the rest follows with the next poll. */
const LANDMARKS_AT_ONCE = 16;

/** From the one that a node holds to the newest, by way of what it may not skip. */
export function bundlesAfter(newest: StoredBundle, held: SnapshotVersion): string[] {
  if (!isNewer(newest, held)) return [];
  const between = newest.landmarks.filter((landmark) => isNewer(landmark, held));
  return [...between.slice(0, LANDMARKS_AT_ONCE), newest].map(({ frame }) => frame);
}

/** Kept in memory for as long as another replica may take to publish a newer one. */
const FRESH_MS = 1_000;

export interface BundleReader {
  (): Promise<StoredBundle>;
  /** A newer one was announced: whoever asks from now on gets it. */
  forget(): void;
}

export function createBundleReader(db: Database, monotonic: () => number): BundleReader {
  let kept: { readonly at: number; readonly bundle: Promise<StoredBundle> } | null = null;
  function read(): Promise<StoredBundle> {
    if (kept === null || monotonic() - kept.at > FRESH_MS) {
      const bundle = readNewest(db);
      bundle.catch(() => (kept = null));
      kept = { at: monotonic(), bundle };
    }
    return kept.bundle;
  }
  return Object.assign(read, { forget: () => void (kept = null) });
}

async function readNewest(db: Database): Promise<StoredBundle> {
  const [row] = await db<{ epoch: number; version: number; frame: Buffer; content: unknown }[]>`
    select epoch, version, frame, content from trust_bundles order by epoch desc, version desc limit 1`;
  if (row === undefined) throw new FairleadError("NOT_INITIALIZED", "this cluster has no trust bundle yet");
  return {
    epoch: row.epoch,
    version: row.version,
    contentHash: digestOf(decodeFrame(row.frame).content),
    frame: row.frame.toString("base64"),
    content: TrustBundle.parse(row.content),
    landmarks: await readLandmarks(db, row),
  };
}

async function readLandmarks(db: Database, before: SnapshotVersion): Promise<StoredBundle["landmarks"]> {
  const rows = await db<{ epoch: number; version: number; frame: Buffer }[]>`
    select epoch, version, frame from (
      select epoch, version, frame, content->'recovery' <> 'null'::jsonb or content->'root' is distinct from
        lag(content->'root', 1, content->'root') over (order by epoch, version) as is_landmark
      from trust_bundles) b
    where is_landmark and (epoch, version) < (${before.epoch}, ${before.version}) order by epoch, version`;
  return rows.map(({ epoch, version, frame }) => ({ epoch, version, frame: frame.toString("base64") }));
}
