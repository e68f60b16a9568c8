/** The trust bundle in force, as operators see it. */
import { FairleadError } from "../../core/errors.ts";
import type { TrustView } from "../../core/protocol/operator-api.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { rootPinOf } from "../../trust/pins.ts";
import type { Database } from "../db/database.ts";
import type { OperatorsDeps } from "./deps.ts";

interface BundleRow {
  readonly version: number;
  readonly content: unknown;
}

async function newest(db: Database): Promise<BundleRow | undefined> {
  const [row] = await db<
    BundleRow[]
  >`select version, content from trust_bundles order by epoch desc, version desc limit 1`;
  return row;
}

export async function intentsRequired(db: Database): Promise<boolean> {
  const row = await newest(db);
  return row !== undefined && TrustBundle.parse(row.content).intents_required;
}

export async function readTrust({ db, clusterId, ca, enrollUrl }: OperatorsDeps): Promise<TrustView> {
  const row = await newest(db);
  if (row === undefined) throw new FairleadError("NOT_INITIALIZED", "the cluster has no trust bundle yet");
  const bundle = TrustBundle.parse(row.content);
  return {
    cluster_id: clusterId,
    version: row.version,
    bundle,
    ca_pin: ca.pin,
    root_pin: rootPinOf(bundle.root),
    enroll_url: enrollUrl(),
  };
}
