import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptKey, openLedger, type Acceptance, type Ledger } from "../../../src/agent/authority/ledger.ts";
import { CommandId, ProfileId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { at, fingerprint, NODE, NOW, payloadOf, PROFILE, ROLLOUT } from "../../support/trust.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";
import { temporaryFolder } from "./node.ts";

const idOf = (n: number) => CommandId.parse(`00000000-0000-4000-8000-${String(n).padStart(12, "0")}`);
const bytesOf = (n: number) => Buffer.from(`command ${n}`);
const rejection = (reason: string) => ({ code: "COMMAND_EXPIRED", subject: "command", reason, at: at(NOW) });
const DELIVERY = { command: "", intent: null, proof: [] };
const INTENT = { serial: 7, digest: fingerprint("intent") };

function acceptance(
  n: number,
  changes: Partial<Acceptance> & { profile?: ProfileId; attempt?: number } = {},
): Acceptance {
  const { profile = PROFILE, attempt = n, ...rest } = changes;
  const job = {
    ...payloadOf(),
    command_id: idOf(n),
    rollout_id: ROLLOUT,
    node_id: NODE,
    chain_profile_id: profile,
    direction: "forward" as const,
    attempt,
  };
  return { sequence: n, intent: INTENT, pending: { job, delivery: DELIVERY }, ...rest };
}
const accept = (ledger: Ledger, n: number, changes = {}) => ledger.accept(bytesOf(n), acceptance(n, changes));
const pendingOf = (ledger: Ledger) => ledger.pending().map(({ job }) => job.command_id);

test("an accepted command raises the mark, is known by its bytes and waits to be concluded, also after a restart", async () => {
  const folder = await temporaryFolder();
  const first = await openLedger(folder);
  await accept(first, 3);
  for (const ledger of [first, await openLedger(folder)]) {
    expect(ledger.mark()).toBe(3);
    expect(ledger.find(bytesOf(3))).toMatchObject({ command_id: idOf(3), rejection: null });
    expect(ledger.find(bytesOf(4))).toBeUndefined();
    expect(pendingOf(ledger)).toEqual([idOf(3)]);
    expect(ledger.profile(PROFILE)).toEqual({
      serial: 7,
      intent_digest: INTENT.digest,
      ran: [attemptKey(INTENT.digest, "forward", 3)],
    });
  }
  await first.conclude(idOf(3));
  expect(pendingOf(await openLedger(folder))).toEqual([]);
});

test("writes that come at once all stand: the runner concludes while commands and rejections arrive", async () => {
  const folder = await temporaryFolder();
  const ledger = await openLedger(folder);
  await accept(ledger, 1);
  await Promise.all([
    accept(ledger, 2),
    ledger.conclude(idOf(1)),
    ledger.noteRejection(rejection("a snapshot")),
    ledger.reject(bytesOf(3), { command_id: idOf(3), sequence: 3 }, rejection("a command")),
    accept(ledger, 4),
  ]);
  for (const each of [ledger, await openLedger(folder)]) {
    expect(each.mark()).toBe(4);
    expect(pendingOf(each)).toEqual([idOf(2), idOf(4)]);
    expect(each.find(bytesOf(3))?.rejection).toEqual(rejection("a command"));
    expect(each.profile(PROFILE).ran.length).toBe(3);
  }
});

test("a second job waits behind the first, and concluding one leaves the other", async () => {
  const ledger = await openLedger(await temporaryFolder());
  await accept(ledger, 1);
  await accept(ledger, 2);
  await ledger.conclude(idOf(2));
  expect(pendingOf(ledger)).toEqual([idOf(1)]);
});

test("not more jobs wait than can be kept: one too many is refused, and nothing of it stays", async () => {
  const folder = await temporaryFolder();
  const ledger = await openLedger(folder);
  const most = 2 * LIMITS.nodeProfilesMax;
  for (let n = 1; n <= most; n++) await accept(ledger, n);
  await expect(accept(ledger, most + 1)).rejects.toMatchObject({ name: "FairleadError" });
  for (const each of [ledger, await openLedger(folder)]) {
    expect(each.mark()).toBe(most);
    expect(each.find(bytesOf(most + 1))).toBeUndefined();
  }
});

test("a rejection is remembered with its command, or alone when the command could not be believed", async () => {
  const ledger = await openLedger(await temporaryFolder());
  await ledger.reject(bytesOf(5), { command_id: idOf(5), sequence: 5 }, rejection("late"));
  expect(ledger.find(bytesOf(5))?.rejection).toEqual(rejection("late"));
  expect(ledger.mark()).toBe(5);
  await ledger.reject(bytesOf(9), null, rejection("forged"));
  expect(ledger.find(bytesOf(9))).toBeUndefined();
  expect(ledger.mark()).toBe(5);
  expect(ledger.lastRejection()).toEqual(rejection("forged"));
  await ledger.reject(bytesOf(2), { command_id: idOf(2), sequence: 2 }, rejection("older"));
  expect(ledger.mark()).toBe(5);
});

test("attempts are counted per intent, profiles apart from one another, whatever they are called", async () => {
  const ledger = await openLedger(await temporaryFolder());
  const odd = ProfileId.parse("constructor");
  expect(ledger.profile(odd)).toEqual({ serial: 0, intent_digest: null, ran: [] });
  await accept(ledger, 1, { profile: odd, attempt: 1 });
  await accept(ledger, 2, { attempt: 1, intent: { serial: 8, digest: fingerprint("other") } });
  expect(ledger.profile(odd)).toMatchObject({ serial: 7, ran: [attemptKey(INTENT.digest, "forward", 1)] });
  expect(ledger.profile(PROFILE)).toMatchObject({
    serial: 8,
    ran: [attemptKey(fingerprint("other"), "forward", 1)],
  });
});

test("years of commands do not make the ledger grow, with or without intents", async () => {
  const folder = await temporaryFolder();
  const ledger = await openLedger(folder);
  for (let n = 1; n <= 60; n++) {
    const intent = n % 2 === 0 ? null : { serial: n, digest: fingerprint(`intent ${n}`) };
    await accept(ledger, n, { attempt: 1, intent });
    await ledger.conclude(idOf(n));
  }
  expect(ledger.profile(PROFILE).serial).toBe(59);
  expect(ledger.profile(PROFILE).ran.length).toBeLessThanOrEqual(1);
  expect((await readFile(join(folder, "authority", "ledger.json"))).length).toBeLessThan(10_000);
  expect((await openLedger(folder)).mark()).toBe(60);
});

test("a ledger whose last rejection holds a NUL is read, with the NUL replaced", async () => {
  const folder = await temporaryFolder();
  const first = await openLedger(folder);
  await first.reject(bytesOf(3), { command_id: idOf(3), sequence: 3 }, rejection("a\0b"));
  const again = await openLedger(folder);
  expect([again.mark(), again.lastRejection()?.reason]).toEqual([3, "a\ufffdb"]);
});

/** A ledger whose writes fail while `isFull`; names can be removed. */
async function onFullDisk() {
  const disk = { isFull: false };
  const folder = await temporaryFolder();
  const fs = trippingFileSystem((operation) => {
    if (disk.isFull && operation.startsWith("write ")) throw systemError("ENOSPC");
  });
  return { disk, folder, ledger: await openLedger(folder, fs) };
}

test("SNAP-16: a command that could not be written was not accepted: memory says what the disk says", async () => {
  const { disk, folder, ledger } = await onFullDisk();
  await accept(ledger, 1);
  disk.isFull = true;
  await expect(accept(ledger, 2)).rejects.toMatchObject({ code: "DISK_FULL" });
  await expect(ledger.noteRejection(rejection("late"))).rejects.toMatchObject({ code: "DISK_FULL" });
  for (const each of [ledger, await openLedger(folder)]) {
    expect([each.mark(), each.newest(PROFILE), each.lastRejection()]).toEqual([1, 1, null]);
    expect([pendingOf(each), each.find(bytesOf(2))]).toEqual([[idOf(1)], undefined]);
  }
});

test("SNAP-16: a job that ended on a full disk is not pending, now or after a restart, and leaves with the next write", async () => {
  const { disk, folder, ledger } = await onFullDisk();
  await accept(ledger, 1);
  disk.isFull = true;
  await expect(ledger.conclude(idOf(1))).rejects.toMatchObject({ code: "DISK_FULL" });
  expect([pendingOf(ledger), pendingOf(await openLedger(folder))]).toEqual([[], []]);
  disk.isFull = false;
  await accept(ledger, 2);
  const written = JSON.parse(await readFile(join(folder, "authority", "ledger.json"), "utf8")) as {
    pending: { job: { command_id: string } }[];
  };
  expect(written.pending.map(({ job }) => job.command_id)).toEqual([idOf(2)]);
  expect(await readdir(join(folder, "authority", "permits"))).toEqual([idOf(2)]);
});

test("SNAP-16: jobs that an older agent accepted are pending without a permit", async () => {
  const folder = await temporaryFolder();
  await accept(await openLedger(folder), 1);
  const path = join(folder, "authority", "ledger.json");
  const file = JSON.parse(await readFile(path, "utf8")) as { pending: Record<string, unknown>[] };
  for (const pending of file.pending) delete pending["delivery"];
  await writeFile(path, JSON.stringify({ ...file, newest: undefined }));
  await rm(join(folder, "authority", "permits"), { recursive: true });
  const ledger = await openLedger(folder);
  expect([pendingOf(ledger), ledger.pending()[0]?.delivery, ledger.newest(PROFILE)]).toEqual([
    [idOf(1)],
    null,
    0,
  ]);
});

test("SNAP-16: a permit without a job, left by a crash during acceptance, permits nothing and is removed", async () => {
  const folder = await temporaryFolder();
  await openLedger(folder);
  await writeFile(join(folder, "authority", "permits", idOf(7)), "");
  expect(pendingOf(await openLedger(folder))).toEqual([]);
  expect(await readdir(join(folder, "authority", "permits"))).toEqual([]);
});
