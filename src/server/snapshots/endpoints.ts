/** Where nodes ask for newer snapshots: the addresses that the replicas answer at, as each says itself at its start. */
import { EndpointUrl } from "../../core/snapshot/typed-text.ts";
import type { Database } from "../db/database.ts";

/** A replica that moved leaves its old address behind: the newest few are enough to find the others. */
const ENDPOINTS_KEPT = 8;

export async function announceEndpoint(db: Database, url: string): Promise<void> {
  if (!EndpointUrl.safeParse(url).success) return; // an address in brackets: agents know it from their enrollment
  await db`
    update clusters set refresh_endpoints = (array_prepend(${url}::text, refresh_endpoints))[1:${ENDPOINTS_KEPT}]
    where ${url} <> all(refresh_endpoints)`;
}
