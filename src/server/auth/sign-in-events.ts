/**
 * Who exchanged an API key for a token, from where, as events.
 *
 * 1. A script may sign in with every call: of one key and one address there is one event a minute at most.
 */
import type { Clock } from "../../host/clock.ts";
import type { Database } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

export type NoteToken = (actor: string, address: string) => Promise<void>;

const PAUSE_MS = 60_000;
const REMEMBERED_MAX = 10_000;

export function createTokenEvents(db: Database, clock: Pick<Clock, "monotonic">): NoteToken {
  const noted = new Map<string, number>();
  return async (actor, address) => {
    const key = JSON.stringify([actor, address]);
    const now = clock.monotonic();
    if (now - (noted.get(key) ?? -Infinity) < PAUSE_MS) return; // (1)
    noted.delete(key); // the newest stand last
    noted.set(key, now);
    const [oldest] = noted.keys();
    if (noted.size > REMEMBERED_MAX && oldest !== undefined) noted.delete(oldest);
    await db.begin((tx) => appendEvents(tx, [{ kind: "token.issued", actor, data: { address } }]));
  };
}
