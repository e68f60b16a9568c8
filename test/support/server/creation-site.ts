// A site on which rollouts and groups are created through the API: a database, a config folder, nodes that run something.

import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { NodeId } from "../../../src/core/ids.ts";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { createGroupService } from "../../../src/server/group/service.ts";
import { createManifestReader } from "../../../src/server/manifests/reader.ts";
import { wakeSigned } from "../../../src/server/rollout/intent-trust.ts";
import { createRolloutService } from "../../../src/server/rollout/service.ts";
import { generateSigner, type Signer } from "../../../src/trust/keys.ts";
import { startTestDatabases } from "../database.ts";
import { administrator } from "./operators-client.ts";
import { initializeSite, makeSite, startOperators } from "./site.ts";
import { signTrustBundle } from "./trust-bundle.ts";

export const digestLike = (digit: string): string => `sha256:${digit.repeat(64)}`;
/** What the nodes run at the beginning. */
export const V1 = digestLike("1");
export const V2 = digestLike("2");

export type CreationSite = Awaited<ReturnType<typeof startCreationSite>>;

export interface NewNode {
  readonly profile?: string;
  readonly type?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly version?: string;
}

export async function startCreationSite() {
  const databases = await startTestDatabases();
  const { db } = await databases.fresh();
  const site = await makeSite(db);
  await initializeSite(db, site);
  const config = join(site.folder, "config");
  const manifests = createManifestReader(() => config);
  // Without required signatures: what is signed, and that it must be, is the CLI's and the agents' tests.
  const release = generateSigner().signer;
  const { content: bundle } = signTrustBundle(site, {
    bundle: { intents_required: false, release_keys: [releaseKeyOf(release)] },
  });
  await db`update trust_bundles set content = ${db.json(bundle)}`;
  const readBundle = async () =>
    TrustBundle.parse((await db`select content from trust_bundles`)[0]!["content"]);
  const intents = { clusterId: site.clusterId, bundle: readBundle };
  const deps = { db, manifests, intents, now: Date.now, nudge: () => undefined, nudgeGroup: () => undefined };
  const app = await startOperators(db, site, {
    manifests,
    rollouts: createRolloutService(deps),
    groups: createGroupService(deps),
  });

  /** One more program on a node, which runs it. */
  async function addProgram(id: NodeId, profile: string, version = "1.0.0"): Promise<void> {
    await db`insert into node_profiles (node_id, chain_profile_id) values (${id}, ${profile})`;
    await db`
      insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
      values (${id}, ${profile}, ${version}, ${V1})`;
  }

  return {
    db,
    app,
    config,
    clusterId: site.clusterId,
    /** Trusted by the site's bundle. */
    release,
    /** As if a new trust bundle had come in: its release key is revoked, and another one listed. */
    async replaceRelease(): Promise<Signer> {
      const next = generateSigner().signer;
      const content = {
        ...(await readBundle()),
        release_keys: [releaseKeyOf(next)],
        revoked_keys: [release.record.key_id],
      };
      await db`update trust_bundles set content = ${db.json(content)}`;
      await wakeSigned(db);
      return next;
    },
    ask: await administrator(app, db),
    async write(path: string, text: string): Promise<void> {
      await mkdir(dirname(join(config, path)), { recursive: true });
      await writeFile(join(config, path), text);
    },
    async addNode(name: string, node: NewNode = {}): Promise<NodeId> {
      const { profile = "web", type = "edge", labels = {}, version = "1.0.0" } = node;
      const id = NodeId.parse(randomUUID());
      await db`
        insert into nodes (id, name, node_type, roles, labels, state, enrolled_at)
        values (${id}, ${name}, ${type}, '{egress_service}', ${db.json(labels)}, 'active', now())`;
      await addProgram(id, profile, version);
      return id;
    },
    addProgram,
    /** As if the rollout had been driven to its end. */
    async complete(rolloutId: string): Promise<void> {
      await db`update rollout_nodes set status = 'succeeded', ended_at = now() where rollout_id = ${rolloutId}`;
      await db`update rollouts set status = 'completed', ended_at = now() where id = ${rolloutId}`;
    },
    async stop(): Promise<void> {
      await app.close();
      await site.remove();
      await databases.stop();
    },
  };
}

const releaseKeyOf = ({ record }: Signer) => ({
  ...record,
  valid_from: "2020-01-01T00:00:00.000Z",
  valid_until: "2100-01-01T00:00:00.000Z",
  name: "release",
  profiles: [],
});

export const manualRequest = (changes: object = {}): Record<string, unknown> => ({
  id: randomUUID(),
  chain_profile_id: "web",
  node_type: "edge",
  source_version: "1.0.0",
  batch_size: 2,
  binary_name: "web",
  target_version: "2.0.0",
  target_binary_url: "https://dl.example/web",
  target_binary_checksum: V2,
  ...changes,
});

export const manifestYaml = (changes: object = {}): string =>
  JSON.stringify({
    upgrade_id: "v2",
    chain_profile_id: "web",
    binary_name: "web",
    target_version: "2.0.0",
    target_url: "https://dl.example/web",
    target_checksum: V2,
    ...changes,
  });
