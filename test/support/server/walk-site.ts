// A site with its real services, and what operators have there: nodes, rollouts and groups in the state a call needs.

import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { NodeId, RolloutId } from "../../../src/core/ids.ts";
import { GroupId } from "../../../src/core/protocol/group-api.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import { openEventStream } from "../../../src/server/events/stream.ts";
import { advanceGroup } from "../../../src/server/group/advance.ts";
import { createGroupService } from "../../../src/server/group/service.ts";
import { createKeyRing } from "../../../src/server/identity/key-ring.ts";
import { createKeyService } from "../../../src/server/keys/service.ts";
import { createManifestReader } from "../../../src/server/manifests/reader.ts";
import { advanceRollout } from "../../../src/server/rollout/advance.ts";
import { createRolloutService } from "../../../src/server/rollout/service.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { startTestDatabases } from "../database.ts";
import { V1 } from "./creation-site.ts";
import { callerOf, tokenOf, type Call, type Method } from "./operators-site.ts";
import { firstRunSecret, makeSite, startOperators } from "./site.ts";
import { signTrustBundle } from "./trust-bundle.ts";

export type Walk = Awaited<ReturnType<typeof startWalk>>;

const nobodyHears = (): void => undefined;
const failedSignInsPerMinuteMax = 100_000;

export async function startWalk() {
  const databases = await startTestDatabases();
  const leave: (() => Promise<unknown>)[] = [];
  const { db } = await databases.fresh();
  const site = await makeSite(db);
  const { clusterId, keysDir } = site;
  const ring = await createKeyRing({ db, keysDir, clusterId, log: silentLogger });
  const manifests = createManifestReader(() => join(site.folder, "config"));
  // Without required signatures: what is signed, and that it must be, is the CLI's and the agents' tests.
  const { content: bundle, frame } = signTrustBundle(site, { bundle: { intents_required: false } });
  const steering = {
    db,
    manifests,
    intents: { clusterId, bundle: async () => bundle },
    now: Date.now,
    nudge: nobodyHears,
    nudgeGroup: nobodyHears,
  };
  const events = await openEventStream(db);
  const app = await startOperators(db, site, {
    ring,
    keys: createKeyService({ db, clock: systemClock, ring }),
    manifests,
    rollouts: createRolloutService(steering),
    groups: createGroupService(steering),
    events,
    failedSignInsPerMinuteMax,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const call = callerOf(app);
  const first_run_secret = await firstRunSecret(site);
  const initialized = await call("POST", "/api/v1/bootstrap/trust-bundle", {
    payload: { first_run_secret, trust_bundle: frame.toString("base64") },
  });
  const admin = await tokenOf(app, initialized.json<{ api_key: string }>().api_key);
  const nobody = await tokenOf(app, await createApiKey(db, "guest", []));

  return {
    db,
    site,
    ring,
    admin,
    nobody,
    call,
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    /** As the administrator, for what a call needs before it; its refusal is the test's mistake. */
    async make<T>(method: Method, path: string, payload?: Call["payload"]): Promise<T> {
      const answer = await call(method, `/api/v1${path}`, { token: admin, ...(payload && { payload }) });
      if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.body}`);
      return answer.json<T>();
    },
    /** Of a profile of its own, so that no rollout is in another's way. */
    async node(profile: string): Promise<NodeId> {
      const id = NodeId.parse(randomUUID());
      await db`
        insert into nodes (id, name, node_type, roles, enrolled_at)
        values (${id}, ${`${profile}-1`}, 'edge', '{egress_service}', now())`;
      await db`insert into node_profiles (node_id, chain_profile_id) values (${id}, ${profile})`;
      await db`
        insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
        values (${id}, ${profile}, '1.0.0', ${V1})`;
      return id;
    },
    advance: (id: string) =>
      advanceRollout(
        { db, authority: ring, onCommitted: nobodyHears, nudgeGroup: nobodyHears },
        RolloutId.parse(id),
      ),
    advanceGroup: (id: string) => advanceGroup({ db, nudge: nobodyHears }, GroupId.parse(id)),
    async write(path: string, text: string): Promise<void> {
      const file = join(site.folder, "config", path);
      await mkdir(join(file, ".."), { recursive: true });
      await writeFile(file, text);
    },
    /** One more site, before its first run. */
    async newcomer() {
      const other = await databases.fresh();
      const site = await makeSite(other.db);
      const app = await startOperators(other.db, site, { failedSignInsPerMinuteMax });
      leave.push(
        () => app.close(),
        () => site.remove(),
      );
      return { site, call: callerOf(app), first_run_secret: await firstRunSecret(site) };
    },
    async stop(): Promise<void> {
      await app.close();
      for (const step of leave) await step();
      await events.close();
      await ring.close();
      await site.remove();
      await databases.stop();
    },
  };
}
