/** One round of a soak, which stands for a day: a release, its faults, and the operator's evening. */
import { eventually } from "../support/lab/eventually.ts";
import { catchUp, reportedNodes, versionOf } from "./catch-up.ts";
import { strike, type Remedy, type Scene } from "./faults.ts";
import type { Fault, Round } from "./plan.ts";
import { bring, type Brought } from "./releases.ts";
import { beginRollout, settle, takeBack } from "./settle.ts";

export interface Day {
  readonly day: number;
  readonly version: string;
  readonly ending: string;
  /** Rollouts that brought single nodes to the wanted version afterwards. */
  readonly caughtUp: number;
  /** What the operator wants from now on. */
  readonly wanted: Brought;
  readonly seconds: number;
}

/** A fault of the control plane has its remedy at once: nothing can be asked of it meanwhile. */
const isOfSite = ({ kind }: Fault): boolean =>
  kind === "outage" || kind === "server_clock" || kind === "engines_killed";
/** These last until the rollout is under way, or they would meet nothing. */
const lasts = ({ kind }: Fault): boolean => kind === "full_disk" || kind === "agent_clock";

export async function liveDay(scene: Scene, round: Round, wanted: Brought): Promise<Day> {
  const began = performance.now();
  const { site } = scene;
  const { origin } = site.lab;
  const version = `2.${round.day}.0`;
  const release = await bring(site, version, round.release);
  const soon: Remedy[] = [];
  const late: Remedy[] = [];
  const apply = async (remedies: Remedy[]): Promise<void> => {
    for (const remedy of remedies.splice(0)) await remedy();
  };
  async function meet(moment: Fault["moment"]): Promise<void> {
    for (const fault of round.faults.filter((each) => each.moment === moment)) {
      const remedy = await strike(scene, fault);
      if (fault.isLate && !isOfSite(fault)) late.push(remedy);
      else if (lasts(fault)) soon.push(remedy);
      else await remedy();
    }
  }

  await meet("before");
  const isMet = round.faults.some(({ moment }) => moment === "during");
  if (isMet) origin.hold();
  const id = await beginRollout(site, { from: wanted.version, to: release, batchSize: round.batchSize });
  if (isMet) {
    await eventually("a node fetches", () => origin.waiting() > 0);
    await meet("during");
    origin.release();
  }
  await apply(soon);
  const goesForward = round.release === "sound" || round.release === "regretted";
  const options = { manifest: release.manifest, isWanted: goesForward, mend: () => apply(late) };
  let ended = await settle(site, id, options);
  await apply(late);
  const isWanted = round.release === "sound";
  if (!isWanted && (await anyRuns(scene, version))) {
    const why = goesForward ? "it is slower than the one before" : "the release is bad";
    ended = (await takeBack(site, id, why, options)) ?? ended;
  }
  const next = isWanted ? release : wanted;
  const caughtUp = await catchUp(scene, next);
  await checkRecord(scene);
  const seconds = (performance.now() - began) / 1000;
  return { day: round.day, version, ending: ended.status, caughtUp, wanted: next, seconds };
}

/** What the server records of a node is what its program says. */
async function checkRecord(scene: Scene): Promise<void> {
  const recorded = new Map((await reportedNodes(scene)).map((node) => [node.name, versionOf(node)]));
  for (const machine of scene.machines) {
    const version = recorded.get(machine.name)!;
    await eventually(
      `the program of ${machine.name} answers ${version}, as recorded`,
      async () => (await machine.answers()) === version,
    );
  }
}

async function anyRuns({ machines }: Scene, version: string): Promise<boolean> {
  const answers = await Promise.all(machines.map(async (each) => each.answers().catch(() => null)));
  return answers.includes(version);
}
