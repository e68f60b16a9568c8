/** The first trust bundle comes in, the first administrator's key goes out. Of two at once, one wins. */
import type { ClusterId } from "../../core/ids.ts";
import { removeDurable } from "../../host/durable-write.ts";
import type { Clock } from "../../host/clock.ts";
import type { Database } from "../db/database.ts";
import type { KeyRing } from "../identity/key-ring.ts";
import { writeFirstRows } from "../keys/first-rows.ts";
import { createApiKey } from "./api-keys.ts";
import { verifyFirstBundle } from "./first-bundle.ts";
import { alreadyInitialized, checkFirstRun } from "./first-run-secret.ts";

export interface InitializeDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly clusterId: ClusterId;
  readonly ring: KeyRing;
  readonly firstRunSecretPath: string;
}

const FIRST_ADMIN = "first-admin";

export async function initialize(deps: InitializeDeps, secret: string, frame: Buffer): Promise<string> {
  await checkFirstRun(deps.db, deps.firstRunSecretPath, secret);
  const { clusterId, ring } = deps;
  const online = await ring.firstKey();
  const bundle = verifyFirstBundle(frame, { clusterId, online, now: deps.clock.now() });
  const apiKey = await deps.db.begin(async (tx) => {
    const stored = await tx`
      insert into trust_bundles (version, frame, content) values (1, ${frame}, ${tx.json(bundle)})
      on conflict do nothing returning version`;
    if (stored.length === 0) throw alreadyInitialized();
    await writeFirstRows(tx, bundle, 1, online.record.key_id, FIRST_ADMIN);
    return createApiKey(tx, FIRST_ADMIN, ["admin"]);
  });
  await ring.follow(deps.db);
  await removeDurable(deps.firstRunSecretPath);
  return apiKey;
}
