/**
 * Each replica compiles what is marked: at once when it is told, and by itself every second, for what it was not told
 * of. A failure is logged and tried again; the marks stay until it succeeds.
 */
import { sleep } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { Authority } from "./authority.ts";
import { publishDirty } from "./dirty.ts";
import { dropUnusedContents } from "./contents.ts";
import { markDue, SNAPSHOTS_CHANNEL } from "./mark.ts";

const LOOK_MS = 1_000;
/** A node's row was held by somebody else: not long. */
const BUSY_MS = 50;
const REFRESH_MS = 30_000;
const TIDY_MS = 3_600_000;

export interface SnapshotLoopDeps {
  readonly db: Database;
  readonly authority: Authority;
  readonly clock: { now(): number; monotonic(): number };
  readonly metrics: ServerMetrics;
  readonly log: Logger;
}

export async function startSnapshotLoop(deps: SnapshotLoopDeps): Promise<{ stop(): Promise<void> }> {
  const { db, clock, log } = deps;
  const stopping = new AbortController();
  const refresh = every(REFRESH_MS, clock.monotonic, () => markDue(db, clock.now()));
  // Not at once: servers of the build before may still publish, in a way that this one does not know.
  const tidy = every(TIDY_MS, clock.monotonic, () => dropUnusedContents(db), clock.monotonic());
  let told = false;
  let resting = new AbortController();
  const tell = () => {
    told = true;
    resting.abort();
  };
  const listener = await db.listen(SNAPSHOTS_CHANNEL, tell, tell);

  async function rest(ms: number): Promise<void> {
    if (told || stopping.signal.aborted) return;
    resting = new AbortController();
    await sleep(ms, resting.signal);
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pause = LOOK_MS;
      // What is due is told by the clock; while that is in doubt nothing is marked and nothing is signed.
      if (deps.authority.clock?.isOpen() === false) {
        told = false;
        await rest(pause);
        continue;
      }
      try {
        await refresh();
        await tidy();
        told = false;
        const { claimed, cleared } = await publishSet(deps);
        if (claimed > 0) pause = cleared > 0 ? 0 : BUSY_MS;
      } catch (error) {
        if (!stopping.signal.aborted)
          log.warn("compiling snapshots failed, retrying", { error: String(error) });
      }
      if (pause > 0) await rest(pause);
    }
  }

  const running = loop();
  return {
    async stop() {
      stopping.abort();
      resting.abort();
      await running;
      await listener.unlisten();
    },
  };
}

async function publishSet({ db, authority, clock, metrics, log }: SnapshotLoopDeps) {
  const began = clock.monotonic();
  const set = await publishDirty(db, authority, clock.now);
  if (set.claimed === 0) return set;
  metrics.snapshots.add({ outcome: "published" }, set.published);
  metrics.snapshots.add({ outcome: "unchanged" }, set.unchanged);
  metrics.snapshots.add({ outcome: "refused" }, set.refused.length);
  metrics.snapshotSetSeconds.observe({}, (clock.monotonic() - began) / 1000);
  for (const { nodeId, scope, code, path, message } of set.refused)
    log.warn("snapshot not signed", { node: nodeId, scope, code, path, message });
  return set;
}

function every(
  ms: number,
  monotonic: () => number,
  work: () => Promise<unknown>,
  since = -Infinity,
): () => Promise<void> {
  let last = since;
  return async () => {
    if (monotonic() - last < ms) return;
    last = monotonic();
    await work();
  };
}
