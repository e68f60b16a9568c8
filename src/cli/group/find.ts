/** Groups of rollouts: read, listed, and found by what an operator typed. */
import { GroupId, GroupList, GroupView } from "../../core/protocol/group-api.ts";
import type { Api } from "../api.ts";
import { everyPage, queryOf, type Query } from "../pages.ts";
import { byPrefix, only, refuseNoPrefix } from "../resolve.ts";

/** A prefix is looked for among the newest so many. */
const SEARCHED_MAX = 1000;

export const readGroup = (api: Api, id: string): Promise<GroupView> =>
  api.get(`/api/v1/rollout-groups/${id}`, GroupView);

/** Newest first. */
export const listGroups = (api: Api, query: Query, itemsMax: number): Promise<GroupView[]> =>
  everyPage(async (page) => {
    const path = `/api/v1/rollout-groups?${queryOf({ ...query, ...page })}`;
    const { groups, next_cursor } = await api.get(path, GroupList);
    return { items: groups, next: next_cursor };
  }, itemsMax);

export async function resolveGroup(api: Api, text: string): Promise<GroupView> {
  const id = GroupId.safeParse(text);
  if (id.success) return readGroup(api, id.data);
  refuseNoPrefix(text);
  const found = byPrefix(await listGroups(api, {}, SEARCHED_MAX), text);
  return only("group", text, found, (group) => `${group.id} (${group.chain_profile_id}, ${group.status})`);
}
