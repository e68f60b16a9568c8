/** Enrollment keys: listed, and found by name or id. */
import { EnrollmentKeyList, type EnrollmentKeyView } from "../../core/protocol/enrollment-key-api.ts";
import type { Api } from "../api.ts";
import { everyPage, queryOf } from "../pages.ts";
import { byPrefix, only } from "../resolve.ts";

export const listEnrollmentKeys = (api: Api): Promise<EnrollmentKeyView[]> =>
  everyPage(async (page) => {
    const path = `/api/v1/enrollment-keys?${queryOf(page)}`;
    const { enrollment_keys, next_cursor } = await api.get(path, EnrollmentKeyList);
    return { items: enrollment_keys, next: next_cursor };
  });

/** A name is that of the key in use: revoked ones may have had it before. */
export async function resolveEnrollmentKey(api: Api, text: string): Promise<EnrollmentKeyView> {
  const keys = await listEnrollmentKeys(api);
  const named = keys.filter(({ name }) => name === text);
  const live = named.filter(({ revoked_at }) => revoked_at === null);
  const found = live.length > 0 ? live : named.length > 0 ? named : byPrefix(keys, text);
  return only("enrollment key", text, found, (key) => `${key.name} (${key.id})`);
}
