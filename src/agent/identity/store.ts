/** Who this node is: its key, its certificate, its cluster and the root it was told to believe. All in one 0700 folder. */
import { join } from "node:path";
import { z } from "zod";
import { ClusterId, Digest, NodeId } from "../../core/ids.ts";
import { NodeRole } from "../../core/snapshot/scopes.ts";
import { RootSet } from "../../core/snapshot/trust-bundle.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";

export const Identity = z.object({
  node_id: NodeId,
  cluster_id: ClusterId,
  agent_url: z.url(),
  roles: z.array(NodeRole),
  /** Which token made this identity: another one in its place means a new enrollment. */
  token_digest: Digest,
  /** The root that the enrollment token pinned. */
  root: RootSet,
  ca: z.string(),
  private_key: z.string(),
  certificate_chain: z.string(),
});
export type Identity = z.infer<typeof Identity>;

const pathOf = (dataDir: string) => join(dataDir, "identity", "identity.json");

export const readIdentity = (dataDir: string): Promise<Identity | undefined> =>
  readJsonIfThere(pathOf(dataDir), Identity);

/** What this node was told and has seen, apart from what an earlier identity of the machine was told. */
export const folderOf = (dataDir: string, { node_id }: Identity): string => join(dataDir, "nodes", node_id);

/** One file, one write: a crash leaves the old identity or the new one. */
export async function writeIdentity(dataDir: string, identity: Identity): Promise<void> {
  await ensureDirectory(join(dataDir, "identity"), 0o700);
  await writeJsonDurable(pathOf(dataDir), identity, { mode: 0o600 });
}
