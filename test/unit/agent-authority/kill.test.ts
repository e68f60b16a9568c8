// Killed at any instant, a node comes back with one whole snapshot and one whole ledger: the old or the new (SNAP-12).
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLedger, type Ledger } from "../../../src/agent/authority/ledger.ts";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { CommandId } from "../../../src/core/ids.ts";
import {
  diesAt,
  failsOnceAt,
  trippingFileSystem,
  type Trap,
} from "../../support/programs/tripping-file-system.ts";
import {
  assignmentFrame,
  bundleFrame,
  fingerprint,
  newKeys,
  NOW,
  payloadOf,
  PROFILE,
  NODE,
  ROLLOUT,
  upgrading,
} from "../../support/trust.ts";
import { identityOf, temporaryFolder } from "./node.ts";

const keys = newKeys();
const identity = identityOf(keys);
const clock = { now: () => NOW, monotonic: () => 0 };
const frame = (config_version: number, target: string) =>
  assignmentFrame(keys, {
    header: { config_version },
    content: { assignments: [upgrading({ target: fingerprint(target) })] },
  });

async function storeWith(trap?: Trap, dataDir?: string) {
  const folder = dataDir ?? (await temporaryFolder());
  const fs = trap === undefined ? undefined : trippingFileSystem(trap);
  return { folder, store: await openSnapshotStore(folder, identity, clock, fs) };
}

/** Runs `during` over and over, stopped before its first, second, … change of the disk, until it gets through. */
async function stoppedEverywhere(
  during: (trap: Trap) => Promise<{ died: boolean }>,
  trapAt: (n: number) => Trap,
): Promise<number> {
  for (let n = 0; n < 100; n++) {
    let tripped = false;
    const { died } = await during((operation, index) => {
      if (index >= n) tripped = true;
      return trapAt(n)(operation, index);
    });
    if (!died && !tripped) return n;
  }
  throw new Error("it never gets through");
}

const outcomeOf = async (work: () => Promise<unknown>): Promise<{ died: boolean }> =>
  work().then(
    () => ({ died: false }),
    () => ({ died: true }),
  );

test("killed between any two writes of a snapshot, the node holds the old one or the new one, whole", async () => {
  const found = new Set<string>();
  const steps = await stoppedEverywhere(async (trap) => {
    const { folder, store } = await storeWith();
    await store.apply(bundleFrame(keys));
    await store.apply(frame(1, "v2"));
    const ended = await outcomeOf(async () => (await storeWith(trap, folder)).store.apply(frame(2, "v3")));

    const { store: restarted } = await storeWith(undefined, folder);
    const held = restarted.assignment()!;
    const { version } = restarted.versions().service_assignment!;
    expect(held.header.config_version).toBe(version);
    expect(held.content.assignments[0]!.target).toBe(fingerprint(version === 1 ? "v2" : "v3"));
    found.add(`version ${version}`);
    if (version === 1) expect((await restarted.apply(frame(2, "v3"))).kind).toBe("accepted");
    expect((await storeWith(undefined, folder)).store.assignment()!.content.assignments[0]!.target).toBe(
      fingerprint("v3"),
    );
    return ended;
  }, diesAt);
  expect(steps).toBeGreaterThan(6);
  expect([...found].toSorted()).toEqual(["version 1", "version 2"]);
});

test("a disk that is full or broken for once costs a snapshot, not the one before it", async () => {
  for (const errno of ["ENOSPC", "EIO"]) {
    const { folder, store } = await storeWith();
    await store.apply(bundleFrame(keys));
    await store.apply(frame(1, "v2"));
    const { store: unlucky } = await storeWith(failsOnceAt(1, errno), folder);
    await expect(unlucky.apply(frame(2, "v3"))).rejects.toThrow(errno);
    expect(unlucky.assignment()!.content.assignments[0]!.target).toBe(fingerprint("v2"));
    expect((await unlucky.apply(frame(2, "v3"))).kind).toBe("accepted");
    expect((await readdir(join(folder, "snapshots"))).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }
});

const DELIVERY = { command: "", intent: null, proof: [] };
const command = (n: number) => ({
  bytes: Buffer.from(`command ${n}`),
  acceptance: {
    sequence: n,
    intent: { serial: n, digest: fingerprint(`intent ${n}`) },
    pending: {
      delivery: DELIVERY,
      job: {
        ...payloadOf(),
        command_id: CommandId.parse(`00000000-0000-4000-8000-00000000000${n}`),
        rollout_id: ROLLOUT,
        node_id: NODE,
        chain_profile_id: PROFILE,
        direction: "forward" as const,
        attempt: 1,
      },
    },
  },
});
const accept = (ledger: Ledger, n: number) => ledger.accept(command(n).bytes, command(n).acceptance);

test("killed between any two writes of the ledger, mark, command, attempt and job stand together or not at all", async () => {
  const marks = new Set<number>();
  await stoppedEverywhere(async (trap) => {
    const folder = await temporaryFolder();
    await accept(await openLedger(folder), 1);
    const ended = await outcomeOf(async () => accept(await openLedger(folder, trippingFileSystem(trap)), 2));
    const ledger = await openLedger(folder);
    const mark = ledger.mark();
    marks.add(mark);
    expect(ledger.pending().length).toBe(mark);
    expect(ledger.find(command(2).bytes) !== undefined).toBe(mark === 2);
    expect(ledger.profile(PROFILE)).toMatchObject({
      serial: mark,
      intent_digest: fingerprint(`intent ${mark}`),
    });
    return ended;
  }, diesAt);
  expect([...marks].toSorted((a, b) => a - b)).toEqual([1, 2]);
});
