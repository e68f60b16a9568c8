// A site for tests about keys: the operators' API on a real database, the real CLI in this process, and nodes whose
// heartbeats come from real rows. What nodes confirm is said by the test.

import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeId } from "../../../src/core/ids.ts";
import type { AppliedVersions } from "../../../src/core/protocol/agent-api.ts";
import type { KeyList } from "../../../src/core/protocol/keys-api.ts";
import { systemClock, type Clock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { upsertHeartbeats } from "../../../src/server/agents/heartbeats.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { createKeyRing, type KeyRing } from "../../../src/server/identity/key-ring.ts";
import { createKeyService } from "../../../src/server/keys/service.ts";
import { publishSnapshots } from "../../../src/server/snapshots/publish.ts";
import { fairleadHere, type Ran } from "../cli.ts";
import { enrolledNode, makeSite, startOperators, type Site } from "../server/site.ts";

/** One person's machine: the CLI with a home of its own. */
export interface Person {
  readonly home: string;
  fairlead(...args: string[]): Promise<Ran>;
  /** Fails the test with what was said when the command fails. */
  succeeds<T>(...args: string[]): Promise<T>;
  /** The code of the error that the command ends with. */
  refused(...args: string[]): Promise<{ code: string; message: string; detail: Record<string, unknown> }>;
}

export function personAt(home: string, now: () => number = Date.now): Person {
  async function fairlead(...args: string[]): Promise<Ran> {
    return fairleadHere(args, { env: { FAIRLEAD_HOME: home }, now });
  }
  return {
    home,
    fairlead,
    async succeeds<T>(...args: string[]) {
      const ran = await fairlead(...args, "--json");
      if (ran.code !== 0) throw new Error(`fairlead ${args.join(" ")}: ${ran.out}${ran.err}`);
      return ran.json<T>();
    },
    async refused(...args) {
      const ran = await fairlead(...args, "--json");
      if (ran.code === 0) throw new Error(`fairlead ${args.join(" ")} was not refused: ${ran.out}`);
      const { error } = ran.json<{
        error: { code: string; message: string; detail?: Record<string, unknown> };
      }>();
      return { ...error, detail: error.detail ?? {} };
    },
  };
}

export interface KeySite {
  readonly db: Database;
  readonly site: Site;
  readonly folder: string;
  readonly url: string;
  readonly ring: KeyRing;
  readonly operator: Person;
  readonly clock: { now: number };
  node(name: string): Promise<NodeId>;
  /** What a node says in its heartbeat: the newest bundle and everything published for it, or less. */
  beats(id: NodeId, applied?: AppliedVersions): Promise<void>;
  /** Publishes an assignment for the node, as the compiler does. */
  publish(id: NodeId): Promise<void>;
  keys(): Promise<KeyList["keys"]>;
  stop(): Promise<void>;
}

export async function startKeySite(db: Database, roots = { count: 1, threshold: 1 }): Promise<KeySite> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-keys-"));
  const time = { now: Date.now() };
  const clock: Clock = { ...systemClock, now: () => time.now };
  const site = await makeSite(db, clock);
  const ring = await createKeyRing({
    db,
    keysDir: site.keysDir,
    clusterId: site.clusterId,
    log: silentLogger,
  });
  const keys = createKeyService({ db, clock, ring });
  const app = await startOperators(db, site, { clock, ring, keys });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const operator = personAt(join(folder, "operator"), () => time.now);
  await operator.succeeds(
    "init",
    "--server",
    url,
    "--first-run-secret-file",
    site.firstRunSecretPath,
    "--keys-dir",
    join(folder, "keys"),
    "--root-keys",
    String(roots.count),
    "--root-threshold",
    String(roots.threshold),
  );

  async function everything(id: NodeId): Promise<AppliedVersions> {
    const rows = await db<{ scope: "service_assignment"; epoch: number; version: number }[]>`
      select scope_type as scope, authority_epoch as epoch, config_version as version from snapshots where node_id = ${id}`;
    const [bundle] = await db<{ epoch: number; version: number }[]>`
      select epoch, version from trust_bundles order by epoch desc, version desc limit 1`;
    const applied = Object.fromEntries(rows.map(({ scope, epoch, version }) => [scope, { epoch, version }]));
    return { ...applied, trust_bundle: { epoch: bundle!.epoch, version: bundle!.version } };
  }

  return {
    db,
    site,
    folder,
    url,
    ring,
    operator,
    clock: time,
    node: async (name) => (await enrolledNode(db, site, name)).nodeId,
    async beats(nodeId, applied) {
      const heartbeat = {
        at: new Date(time.now).toISOString(),
        agent_version: "0.0.0",
        applied: applied ?? (await everything(nodeId)),
        programs: [],
        last_rejection: null,
      };
      await upsertHeartbeats(db, [{ nodeId, heartbeat, digest: null }]);
    },
    async publish(nodeId) {
      const item = { nodeId, scope: "service_assignment" as const, content: { assignments: [] } };
      await db.begin(async (tx) => publishSnapshots(tx, ring, [item], time.now));
    },
    keys: async () => (await keys.list()).keys,
    async stop() {
      await app.close();
      await ring.close();
      await site.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
