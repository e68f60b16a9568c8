/**
 * What a poll brought, in the order in which one thing rests on the other (SNAP-12, SNAP-17):
 * the trust bundle, the head, the bootstrap, the other snapshots, increments, empty intents, commands.
 *
 * 1. The head is taken before whatever it may forbid: a role or key that it revokes counts at once.
 * 2. What is refused is logged, noted and reported; the rest is taken all the same.
 * 3. What did not arrive is noted before commands are looked at: the last rejection is one that was asked for.
 */
import { FairleadError } from "../core/errors.ts";
import type { Digest } from "../core/ids.ts";
import { LIMITS } from "../core/limits.ts";
import {
  REASON_CHARS_MAX,
  type CommandDelivery,
  type PollResponse,
  type Rejection,
} from "../core/protocol/agent-api.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import type { Logger } from "../host/log.ts";
import type { SnapshotRejection } from "../trust/verify-snapshot.ts";
import { receiveCommand, type ReceiveDeps } from "./authority/receive.ts";
import { receiveVoidIntent } from "./authority/receive-void-intent.ts";
import type { PendingJob } from "./authority/ledger.ts";
import type { GateKeeper } from "./degraded/gate-keeper.ts";
import type { Outbox } from "./link/outbox.ts";
import { claimsOf } from "./snapshots/claims.ts";
import type { Polled } from "./snapshots/held-back.ts";
import { rejectionOf } from "./snapshots/rejections.ts";
import type { UndeliveredPage } from "./snapshots/revoked.ts";

/** An incident stays open for as long as it is told again. */
const TELL_AGAIN_MS = LIMITS.incidentQuietMs / 2;

export interface AnswerDeps extends ReceiveDeps {
  readonly keeper: GateKeeper;
  readonly outbox: Pick<Outbox, "add">;
  readonly revocationPage: (digest: Digest) => Promise<Uint8Array>;
  readonly log: Logger;
  readonly start: (pending: PendingJob) => void;
  /** There is something to tell. */
  readonly beat: () => void;
}

export function createAnswerTaker(deps: AnswerDeps) {
  const { snapshots, ledger, keeper, outbox, clock, log, beat } = deps;
  let failedPages: ReadonlySet<Digest> = new Set();
  let missingToldAt = -Infinity;
  const admit = async (action: Parameters<GateKeeper["ask"]>[0]) => keeper.ask(action);

  async function note(rejection: Rejection): Promise<void> {
    log.warn("refused", { ...rejection });
    await ledger.noteRejection(rejection);
    beat();
  }

  async function counted(work: Promise<{ readonly kind: "accepted" } | SnapshotRejection>): Promise<number> {
    const result = await work;
    if (result.kind === "rejected") await note(rejectionOf(result, clock.now()));
    return result.kind === "accepted" ? 1 : 0;
  }

  async function noteHeldBack(polled: Polled): Promise<void> {
    for (const rejection of await snapshots.lookForHeldBack(polled)) await note(rejection);
  }

  /**
   * A page that cannot be fetched now is asked for again with the next poll; until then no head counts as fresh. Pages
   * that a second poll does not get either are told: the set may have changed since the first.
   */
  async function fetchRevoked(): Promise<void> {
    const undelivered = await snapshots.fetchRevoked(deps.revocationPage);
    const news = undelivered.filter(({ digest }) => !failedPages.has(digest));
    for (const page of news) log.warn("revocation page not fetched", { ...page });
    const again = undelivered.filter((page) => failedPages.has(page.digest) && page.code !== "UNREACHABLE");
    failedPages = new Set(undelivered.map(({ digest }) => digest));
    const now = clock.now();
    if (again.length === 0 || Math.abs(now - missingToldAt) < TELL_AGAIN_MS) return;
    missingToldAt = now;
    await note(missingPages(again, now));
  }

  async function takeHead(frame: Buffer | null): Promise<number> {
    if (frame === null) return 0;
    const result = await snapshots.takeHead(frame);
    if (result.kind === "refused") await note(result.rejection);
    return result.kind === "accepted" ? 1 : 0;
  }

  async function takeVoidIntent(frame: Buffer): Promise<number> {
    try {
      return (await receiveVoidIntent(deps, frame)) ? 1 : 0;
    } catch (error) {
      if (!(error instanceof FairleadError)) throw error;
      log.warn("empty intent refused", { code: error.code, reason: error.message });
      return 0;
    }
  }

  async function takeCommand(delivery: CommandDelivery): Promise<number> {
    const received = await receiveCommand(deps, delivery);
    if (received.kind === "accepted") deps.start(received.pending);
    if (received.kind === "refused") {
      log.warn("command refused", { ...received.rejection });
      if (received.commandId !== null)
        await outbox.add(received.commandId, { kind: "refused", rejection: received.rejection });
      beat();
    }
    return received.kind === "accepted" ? 1 : 0;
  }

  return {
    /** How much of it was taken: what is refused stays on offer, and must not be asked for without a pause. */
    async take(answer: PollResponse): Promise<number> {
      const { bundles, others } = inOrder(answer.snapshots.map(bytesOf));
      let taken = 0;
      for (const frame of bundles) taken += await counted(snapshots.apply(frame, admit));
      const heads = await takeHead(answer.head === null ? null : bytesOf(answer.head)); // (1)
      await fetchRevoked(); // (1)
      for (const frame of others) taken += await counted(snapshots.apply(frame, admit));
      for (const frame of answer.increments)
        taken += await counted(snapshots.applyIncrement(bytesOf(frame), admit));
      await noteHeldBack("answered"); // (3)
      for (const frame of answer.void_intents) taken += await takeVoidIntent(bytesOf(frame));
      for (const delivery of answer.commands) taken += await takeCommand(delivery);
      // A head comes with every command: beside one that is refused, it is no progress.
      const { snapshots: frames, increments, void_intents, commands } = answer;
      const isAlone = frames.length + increments.length + void_intents.length + commands.length === 0;
      return isAlone ? heads : taken;
    },
    /** The bundle that came with the enrollment. */
    takeFirstBundle: (frame: Buffer): Promise<number> => counted(snapshots.apply(frame, admit)),
    /** After a poll that brought nothing. */
    async noteHeldBack(polled: Polled): Promise<void> {
      await fetchRevoked();
      await noteHeldBack(polled);
    },
  };
}

function missingPages([first, ...others]: readonly UndeliveredPage[], now: number): Rejection {
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return {
    code: "REVOCATION_PAGE_MISSING",
    subject: first!.digest,
    reason: `${first!.reason.slice(0, REASON_CHARS_MAX / 2)}${more}`,
    at: new Date(now).toISOString(),
  };
}

const bytesOf = (frame: string): Buffer => Buffer.from(frame, "base64");

/** By what their headers claim: a lie about it is found out by the checks. */
function inOrder(frames: readonly Buffer[]): { bundles: Buffer[]; others: Buffer[] } {
  const scoped = frames.map((frame) => ({ frame, scope: claimsOf(frame)?.scope ?? null }));
  const of = (wanted: (scope: ScopeType | null) => boolean) =>
    scoped.filter(({ scope }) => wanted(scope)).map(({ frame }) => frame);
  return {
    bundles: of((scope) => scope === "trust_bundle"),
    others: [
      ...of((scope) => scope === "node_bootstrap"),
      ...of((scope) => scope !== "trust_bundle" && scope !== "node_bootstrap"),
    ],
  };
}
