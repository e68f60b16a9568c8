/** A node behind its public door: the bytes of a poll's answer go in, what was refused comes out. */
import { openLedger } from "../../../src/agent/authority/ledger.ts";
import { createContact } from "../../../src/agent/degraded/contact.ts";
import { createGateKeeper } from "../../../src/agent/degraded/gate-keeper.ts";
import type { Identity } from "../../../src/agent/identity/store.ts";
import type { Programs } from "../../../src/agent/programs/programs.ts";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { createAnswerTaker } from "../../../src/agent/take-answer.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import type { Digest } from "../../../src/core/ids.ts";
import type { CommandDelivery, Rejection } from "../../../src/core/protocol/agent-api.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../src/host/file-system-port.ts";
import { type Logger, silentLogger } from "../../../src/host/log.ts";
import { headFrame } from "../../support/snapshot-frames.ts";
import { bundleFrame, fingerprint, newKeys, NOW, type Keys } from "../../support/trust.ts";
import { identityOf, temporaryFolder } from "../agent-authority/node.ts";

export interface Answer {
  readonly snapshots?: readonly Buffer[];
  readonly increments?: readonly Buffer[];
  readonly head?: Buffer;
  readonly commands?: readonly CommandDelivery[];
  readonly voidIntents?: readonly Buffer[];
}

export interface DoorOptions {
  readonly keys?: Keys;
  readonly folder?: string;
  readonly identity?: Partial<Identity>;
  readonly fs?: FileSystemPort;
  readonly log?: Logger;
}

export type Door = Awaited<ReturnType<typeof openDoor>>;

export async function openDoor({
  keys = newKeys(),
  folder,
  identity: changes,
  fs = nodeFileSystem,
  log = silentLogger,
}: DoorOptions = {}) {
  const dataDir = folder ?? (await temporaryFolder());
  let identity = identityOf(keys, changes);
  const world = { now: NOW, monotonic: 0 };
  const clock = { now: () => world.now, monotonic: () => world.monotonic };
  const programs = { has: () => true, measure: async () => fingerprint("v1") } as unknown as Programs;
  const started: unknown[] = [];
  /** What the control plane answers for. */
  const pages = new Map<Digest, Uint8Array>();

  async function wake() {
    const store = await openSnapshotStore(dataDir, identity, clock, fs);
    const ledger = await openLedger(dataDir);
    const contact = createContact(clock);
    const keeper = createGateKeeper(store, contact);
    const answers = createAnswerTaker({
      identity,
      snapshots: store,
      ledger,
      programs,
      stateDir: dataDir,
      clock,
      keeper,
      outbox: { add: async () => "written" as const },
      revocationPage: async (digest) => {
        const page = pages.get(digest);
        if (page === undefined) throw new FairleadError("NOT_FOUND", "no such page");
        return page;
      },
      log,
      start: (pending) => void started.push(pending),
      beat: () => undefined,
    });
    return { store, ledger, contact, keeper, answers };
  }
  let awake = await wake();

  return {
    keys,
    dataDir,
    world,
    started,
    pages,
    store: () => awake.store,
    ledger: () => awake.ledger,
    contact: () => awake.contact,
    keeper: () => awake.keeper,
    /** One poll: what it brought is taken, and what is missing is looked for. Answers with what was refused last. */
    async poll(answer: Answer = {}): Promise<Rejection | null> {
      const before = awake.ledger.lastRejection();
      awake.contact.answered();
      const base64 = (frames: readonly Buffer[] = []) => frames.map((frame) => frame.toString("base64"));
      await awake.answers.take({
        snapshots: base64(answer.snapshots),
        increments: base64(answer.increments),
        head: answer.head?.toString("base64") ?? null,
        commands: [...(answer.commands ?? [])],
        void_intents: base64(answer.voidIntents),
      });
      const after = awake.ledger.lastRejection();
      return after === before ? null : after;
    },
    /** A poll that nobody answers. */
    unanswered: (): Promise<void> => awake.answers.noteHeldBack("unanswered"),
    async restart(as: Partial<Identity> = {}): Promise<void> {
      identity = { ...identity, ...as };
      awake = await wake();
    },
  };
}

/** Enrolled, trusting, in contact, with a fresh head. */
export async function openTrustingDoor(options: DoorOptions = {}): Promise<Door> {
  const door = await openDoor(options);
  await door.poll({ snapshots: [bundleFrame(door.keys)], head: headFrame(door.keys) });
  return door;
}

/** Which route is in force: tells one version of the content from another. */
export const viaOf = (door: Pick<Door, "store">): string | undefined => {
  const content = door.store().content("route_policy") as { routes: { via: string }[] } | null;
  return content?.routes[0]?.via;
};
