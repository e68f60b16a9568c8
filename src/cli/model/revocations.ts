/** What was taken back, from the API, newest first. */
import { RevocationList, type RevocationView } from "../../core/protocol/model-api.ts";
import type { Api } from "../api.ts";
import { everyPage, queryOf, type Query } from "../pages.ts";

export const listRevocations = (api: Api, query: Query): Promise<RevocationView[]> =>
  everyPage(async (page) => {
    const answer = await api.get(`/api/v1/revocations?${queryOf({ ...query, ...page })}`, RevocationList);
    return { items: answer.revocations, next: answer.next_cursor };
  });
