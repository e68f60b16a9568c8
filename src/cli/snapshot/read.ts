/** A node's snapshots, from the API. */
import { FairleadError } from "../../core/errors.ts";
import {
  NodeAuthorityList,
  NodeSnapshots,
  SnapshotDetail,
  type NodeAuthority,
} from "../../core/protocol/snapshot-api.ts";
import { ScopeType } from "../../core/snapshot/scopes.ts";
import type { Api } from "../api.ts";
import { everyPage, queryOf } from "../pages.ts";
import type { Active } from "./explain.ts";

export const readNodeSnapshots = (api: Api, nodeId: string): Promise<NodeSnapshots> =>
  api.get(`/api/v1/nodes/${nodeId}/snapshots`, NodeSnapshots);

interface Wanted {
  readonly version?: number | undefined;
  readonly epoch?: number | undefined;
}

export function readSnapshot(
  api: Api,
  nodeId: string,
  scope: ScopeType,
  wanted: Wanted = {},
): Promise<SnapshotDetail> {
  const query = queryOf({ version: wanted.version?.toString(), epoch: wanted.epoch?.toString() });
  return api.get(`/api/v1/nodes/${nodeId}/snapshots/${scope}?${query}`, SnapshotDetail);
}

export const listAuthority = (api: Api, attention: boolean): Promise<NodeAuthority[]> =>
  everyPage(async (page) => {
    const path = `/api/v1/snapshots?${queryOf({ attention: String(attention), ...page })}`;
    const { nodes, next_cursor } = await api.get(path, NodeAuthorityList);
    return { items: nodes, next: next_cursor };
  });

/** What the node said it applied, whole; a version that is no longer kept is left out. */
export async function readActive(api: Api, { node_id, snapshots }: NodeSnapshots): Promise<Active> {
  const active = new Map<ScopeType, SnapshotDetail>();
  for (const { scope, applied } of snapshots) {
    if (applied === null) continue;
    const detail = await readSnapshot(api, node_id, scope, applied).catch((error: unknown) => {
      if (error instanceof FairleadError && error.code === "NOT_FOUND") return null;
      throw error;
    });
    if (detail !== null) active.set(scope, detail);
  }
  return active;
}

/** The words were offered as choices; another one never comes here. */
export const scopeOf = (word: string): ScopeType => ScopeType.parse(word);
