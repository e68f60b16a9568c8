/** API keys: listed, and found by name or id. */
import { ApiKeyList, type ApiKeyView } from "../../core/protocol/api-key-api.ts";
import type { Api } from "../api.ts";
import { everyPage, queryOf } from "../pages.ts";
import { byPrefix, only } from "../resolve.ts";

export const listApiKeys = (api: Api): Promise<ApiKeyView[]> =>
  everyPage(async (page) => {
    const { keys, next_cursor } = await api.get(`/api/v1/api-keys?${queryOf(page)}`, ApiKeyList);
    return { items: keys, next: next_cursor };
  });

/** A name is that of the key in use: revoked ones may have had it before. */
export async function resolveApiKey(api: Api, text: string): Promise<ApiKeyView> {
  const keys = await listApiKeys(api);
  const named = keys.filter(({ name }) => name === text);
  const live = named.filter(({ revoked_at }) => revoked_at === null);
  const found = live.length > 0 ? live : named.length > 0 ? named : byPrefix(keys, text);
  return only("API key", text, found, (key) => `${key.name} (${key.id})`);
}
