/**
 * A group read again and again: its view holds its components whole, so nothing has to be put together from events.
 * A server that is away is asked again until the signal ends it.
 */
import type { GroupView } from "../../core/protocol/group-api.ts";
import { sleep } from "../../host/clock.ts";
import type { Api } from "../api.ts";
import { isTransient } from "../events/transient.ts";
import { readGroup } from "./find.ts";

/** Soon at first, for a group that is about to end; then once a second. */
const READ_FIRST_MS = 100;
const READ_MOST_MS = 1000;

export async function* followGroup(
  api: Api,
  first: GroupView,
  signal: AbortSignal,
  onLost: (why: string | null) => void = () => undefined,
): AsyncGenerator<GroupView> {
  yield first;
  for (let waitMs = READ_FIRST_MS; ; waitMs = Math.min(waitMs * 2, READ_MOST_MS)) {
    if ((await sleep(waitMs, signal)) === "aborted") return;
    try {
      const group = await readGroup(api, first.id);
      onLost(null);
      yield group;
    } catch (error) {
      if (!isTransient(error)) throw error;
      onLost(error.message);
    }
  }
}
