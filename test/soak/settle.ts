/**
 * Rollouts brought to their end by the operator, in the way that docs/guides/rollouts.md describes: retry what failed,
 * resume what paused, sign again what expired, give up what does not answer, cancel what is not wanted.
 */
import type { RolloutView } from "../../src/core/protocol/operator-api.ts";
import { isActive } from "../../src/core/rollout/states.ts";
import { sleep } from "../../src/host/clock.ts";
import { eventually } from "../support/lab/eventually.ts";
import { NODE_TYPE } from "../support/lab/agent-of-node.ts";
import type { Brought } from "./releases.ts";
import type { SoakSite } from "./site.ts";

const LOOK_EVERY_MS = 250;
/** Without any change for so long, the operator gives up the nodes at work. */
const PATIENCE_MS = 45_000;
/** An intent allows three attempts. What fails then is left behind: the others go on. */
const RETRIES_MAX = 2;
const RESUMES_MAX = 10;
const GIVE_UP_MS = 300_000;
/** Until a signal that was taken shows. */
const SIGNAL_MS = 10_000;

export interface Wanted {
  readonly from: string;
  readonly to: Brought;
  readonly batchSize: number;
  readonly nodes?: readonly string[];
}

export async function beginRollout({ operator }: SoakSite, wanted: Wanted): Promise<string> {
  const { from, to, batchSize, nodes = [] } = wanted;
  const args = [
    ["--manifest", to.manifest, "--type", NODE_TYPE, "--source-version", from],
    ["--batch-size", String(batchSize), "--health-wait", "1s"],
    ...nodes.map((name) => ["--node", name]),
  ].flat();
  const { id } = await operator.change<RolloutView>("rollout", "create", ...args, "--start");
  return id;
}

const pictureOf = ({ status, why, counters, current_batch }: RolloutView): string =>
  JSON.stringify([status, why?.code, counters, current_batch]);

export interface SettleOptions {
  readonly manifest: string;
  /** False: the release is bad, and the operator calls it off once it has stopped. */
  readonly isWanted: boolean;
  /** At its first pause, or when nothing changes: what is broken is mended before anything is tried again. */
  readonly mend: () => Promise<void>;
}

/** Every node that runs its target goes back. Answers with how that ended; null when the rollout refuses to. */
export async function takeBack(
  site: SoakSite,
  id: string,
  reason: string,
  options: SettleOptions,
): Promise<RolloutView | null> {
  const { operator } = site;
  const args = ["rollout", "rollback", id, "--manifest", options.manifest];
  if (!(await operator.signal(reason, ...args))) return null;
  await eventually(`rollout ${id} goes back`, async () =>
    ["rolling_back", "rolled_back"].includes((await operator.rollout(id)).status),
  );
  return settle(site, id, options);
}

/** Answers with how it ended. */
export async function settle(site: SoakSite, id: string, options: SettleOptions): Promise<RolloutView> {
  const { operator } = site;
  const { manifest, isWanted, mend } = options;
  let retries = 0;
  let resumes = 0;
  let picture = "";
  let changedAt = performance.now();

  async function signalAndSee(before: RolloutView, reason: string, ...args: string[]): Promise<void> {
    if (!(await operator.signal(reason, "rollout", ...args))) return;
    const end = performance.now() + SIGNAL_MS;
    while (performance.now() < end && pictureOf(await operator.rollout(id)) === pictureOf(before))
      await sleep(LOOK_EVERY_MS);
  }

  async function atPause(rollout: RolloutView): Promise<void> {
    const code = rollout.why?.code;
    if (code === "RETRYING") return;
    await mend();
    if (!isWanted) return signalAndSee(rollout, "the release is bad", "cancel", id);
    if (code === "INTENT_EXPIRED")
      return signalAndSee(rollout, "the window closed", "resume", id, "--manifest", manifest);
    if (code === "THRESHOLD_EXCEEDED" && retries < RETRIES_MAX) {
      retries += 1;
      return signalAndSee(rollout, "mended", "retry", id, "--manifest", manifest);
    }
    resumes += 1;
    if (resumes > RESUMES_MAX) return signalAndSee(rollout, "does not go on", "cancel", id);
    return signalAndSee(rollout, "looked at it", "resume", id);
  }

  async function giveUpAtWork(): Promise<void> {
    for (const { node_name, status, upgrade_phase } of await operator.upgrades(id))
      if (status === "in_progress" && upgrade_phase !== "VERIFYING")
        await operator.signal("does not answer", "rollout", "give-up", id, node_name);
  }

  for (const end = performance.now() + GIVE_UP_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
    const rollout = await operator.rollout(id);
    if (!isActive(rollout.status)) return rollout;
    if (pictureOf(rollout) !== picture) [picture, changedAt] = [pictureOf(rollout), performance.now()];
    if (rollout.status === "paused") await atPause(rollout);
    else if (rollout.status === "rolling_back" && rollout.why?.code === "INTENT_EXPIRED")
      await signalAndSee(rollout, "the window closed", "rollback", id, "--manifest", manifest);
    else if (performance.now() - changedAt > PATIENCE_MS) {
      await mend();
      await giveUpAtWork();
      changedAt = performance.now();
    }
  }
  const stuck = await operator.rollout(id);
  const nodes = (await operator.upgrades(id)).map(({ node_name, status, error_code }) => [
    node_name,
    status,
    error_code,
  ]);
  throw new Error(`rollout ${id} is stuck: ${pictureOf(stuck)} ${JSON.stringify(nodes)}`);
}
