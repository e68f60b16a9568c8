/** The first trust bundle comes in, the first administrator's key goes out. Of two at once, one wins. */
import type { ClusterId } from "../../core/ids.ts";
import { removeDurable } from "../../host/durable-write.ts";
import type { Clock } from "../../host/clock.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Database } from "../db/database.ts";
import { createApiKey } from "./api-keys.ts";
import { verifyFirstBundle } from "./first-bundle.ts";
import { alreadyInitialized, checkFirstRun } from "./first-run-secret.ts";

export interface InitializeDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly clusterId: ClusterId;
  readonly online: Signer;
  readonly firstRunSecretPath: string;
}

export async function initialize(deps: InitializeDeps, secret: string, frame: Buffer): Promise<string> {
  await checkFirstRun(deps.db, deps.firstRunSecretPath, secret);
  const { clusterId, online } = deps;
  const bundle = verifyFirstBundle(frame, { clusterId, online, now: deps.clock.now() });
  const apiKey = await deps.db.begin(async (tx) => {
    const stored = await tx`
      insert into trust_bundles (version, frame, content) values (1, ${frame}, ${tx.json(bundle)})
      on conflict do nothing returning version`;
    if (stored.length === 0) throw alreadyInitialized();
    return createApiKey(tx, "first-admin", ["admin"]);
  });
  await removeDurable(deps.firstRunSecretPath);
  return apiKey;
}
