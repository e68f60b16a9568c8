/** One agent: enrolls once, then polls, applies, upgrades, reports and beats until told to stop. */
import { LIMITS } from "../core/limits.ts";
import { sleep, type Clock } from "../host/clock.ts";
import { nodeFileSystem, type FileSystemPort } from "../host/file-system-port.ts";
import { ensureDirectory } from "../host/files.ts";
import type { Logger } from "../host/log.ts";
import { createAuthorizeAgain } from "./authority/authorize-again.ts";
import { openLedger } from "./authority/ledger.ts";
import type { AgentConfig } from "./config.ts";
import { createContact } from "./degraded/contact.ts";
import { createGateKeeper } from "./degraded/gate-keeper.ts";
import { observeLink } from "./degraded/observed-link.ts";
import { identify } from "./identity/identify.ts";
import { keepRenewed } from "./identity/renew.ts";
import { renewByProof } from "./identity/renew-by-proof.ts";
import { folderOf, type Identity } from "./identity/store.ts";
import { openLink, type PollQuestion } from "./link/link.ts";
import { namedReplicas } from "./link/named-replicas.ts";
import { openOutbox } from "./link/outbox.ts";
import { openPrograms, stateDirOf } from "./programs/open.ts";
import { createPulse } from "./pulse.ts";
import { openSnapshotStore } from "./snapshots/store.ts";
import { undatedWhen } from "./snapshots/undated.ts";
import { createAnswerTaker } from "./take-answer.ts";
import { createRunner } from "./upgrade-runner.ts";

const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 15_000;

export interface AgentDeps {
  readonly config: AgentConfig;
  /** How to start a shim: this agent's own file with its subcommand. */
  readonly shimCommand: readonly [string, ...string[]];
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Through which an upgrade changes the machine. */
  readonly fs?: FileSystemPort;
}

export async function runAgent(deps: AgentDeps): Promise<void> {
  const { config, shimCommand, clock, log, signal, fs = nodeFileSystem } = deps;
  const { data_dir: dataDir } = config;
  await ensureDirectory(dataDir, 0o700);
  const identified = await identify(config, clock, log, signal);
  if (identified === null) return;
  const { identity, firstBundle } = identified;
  const folder = folderOf(dataDir, identity);
  const snapshots = await openSnapshotStore(folder, identity, clock);
  const undated = undatedWhen(snapshots.time);
  const contact = createContact(clock);
  const keeper = createGateKeeper(snapshots, contact);
  const connect = (as: Identity) =>
    observeLink(
      openLink(as, () => namedReplicas(snapshots), undated),
      contact,
      snapshots,
    );
  let link = connect(identity);
  const ledger = await openLedger(folder, fs);
  const stateDir = stateDirOf(config);
  await ensureDirectory(stateDir, 0o700);
  const programs = openPrograms(config, shimCommand, clock, log, fs);
  const pulse = createPulse({ programs, snapshots, ledger, link: () => link, clock, log });
  const outbox = await openOutbox({ folder, link: () => link, heartbeat: pulse.measure, clock, log, fs });
  const { busy, beat } = pulse;
  const runner = createRunner({
    stateDir,
    programs,
    ledger,
    authorizeAgain: createAuthorizeAgain({ identity, snapshots, ledger, programs, stateDir }),
    outbox,
    keeper,
    contact,
    clock,
    log,
    fs,
    busy,
    beat,
    link: () => link,
  });
  const answers = createAnswerTaker({
    identity,
    snapshots,
    ledger,
    programs,
    stateDir,
    clock,
    keeper,
    outbox,
    revocationPage: (digest) => link.revocationPage(digest),
    log,
    beat,
    start: (pending) => runner.start(pending, signal),
  });

  const request = (wait_ms: number): PollQuestion => ({
    have: snapshots.versions(),
    command_mark: ledger.mark(),
    intent_serials: ledger.serials(),
    head_issued_at: snapshots.headIssuedAt(),
    resync: snapshots.resync(),
    wait_ms,
  });

  /** Answers whether to go on at once. */
  async function pollOnce(waitMs: number): Promise<boolean> {
    try {
      const answer = await link.poll(request(waitMs), signal).catch(async (error: unknown) => {
        await answers.noteHeldBack("unanswered");
        throw error;
      });
      if (answer !== null) return (await answers.take(answer)) > 0;
      await answers.noteHeldBack("answered");
      return true;
    } finally {
      contact.settle();
    }
  }

  async function pollForever(): Promise<void> {
    let retryMs = RETRY_MS_MIN;
    // Whether anyone is there is to be known soon, so the first question does not wait for news.
    let waitMs = 0;
    async function pauseForLonger(): Promise<void> {
      await sleep(retryMs, signal);
      retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    }
    while (!signal.aborted) {
      try {
        const goOn = await pollOnce(waitMs);
        waitMs = LIMITS.pollWaitMaxMs;
        runner.reconsider(signal);
        if (goOn) retryMs = RETRY_MS_MIN;
        else await pauseForLonger();
      } catch (error) {
        if (signal.aborted) break;
        waitMs = 0;
        log.warn("poll failed; trying again", { error: String(error), retry_ms: retryMs });
        await snapshots.noteWaiting();
        await pauseForLonger();
      }
    }
    contact.settle(); // whoever waits for it leaves as well
  }

  snapshots.subscribe(() => {
    beat();
    runner.reconsider(signal);
  });
  if (firstBundle !== null) await answers.takeFirstBundle(firstBundle);
  runner.resume(signal);
  log.info("agent runs", { node_id: identity.node_id });
  const renewal = keepRenewed({
    identity,
    dataDir,
    now: () => snapshots.time().local,
    isInDoubt: async () => {
      await contact.settled();
      return snapshots.time().clockless === true && !contact.isThere();
    },
    log,
    signal,
    keeper,
    link: () => link,
    byProof: (as, csr) => renewByProof(config.enroll_url, as, csr, undated),
    renewed: (next) => {
      link.close();
      link = connect(next);
    },
  });
  await Promise.all([pollForever(), pulse.run(signal), outbox.run(signal), runner.watch(signal), renewal]);
  await runner.idle();
  link.close();
}
