// More revocations than a head names itself: they come in pages, and until all are here nobody knows (SNAP-10).
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import type { Digest } from "../../../src/core/ids.ts";
import {
  pageRevocations,
  REVOCATIONS_PER_PAGE,
  type Revocation,
} from "../../../src/core/snapshot/revocation.ts";
import { sealPage } from "../../../src/trust/revocation-page.ts";
import { headFrame } from "../../support/snapshot-frames.ts";
import { NODE, NOW, PROFILE } from "../../support/trust.ts";
import { openTrustingDoor, type Door } from "./door.ts";

/** The oldest is this node's own service; thousands of peers came after it. */
const MANY: readonly Revocation[] = [
  { kind: "service_assignment", id: PROFILE },
  ...Array.from({ length: 5_000 }, (_, at) => ({ kind: "peer", id: `peer-${at}` }) as const),
];
const { pages, rest } = pageRevocations(MANY);
const sealed = pages.map(sealPage);

const headAt = (door: Door, later: number) =>
  headFrame(door.keys, {
    issuedAt: NOW + later,
    revoked: [...rest],
    pages: sealed.map(({ digest }) => digest),
  });
const offer = (door: Door, offered = sealed) => {
  for (const { digest, bytes } of offered) door.pages.set(digest, bytes);
};
const asked = (door: Door) => {
  const gate = door.keeper().ask("create_service_authority", { kind: "service_assignment", id: PROFILE });
  return gate.kind === "open" ? "open" : gate.code;
};

test("SNAP-10: of thousands of revocations the oldest is refused still, also after a restart", async () => {
  const door = await openTrustingDoor();
  offer(door);
  expect(asked(door)).toBe("open");
  await door.poll({ head: headAt(door, 1) });
  expect([door.store().revoked().length, asked(door)]).toEqual([MANY.length, "AUTHORITY_REVOKED"]);
  door.pages.clear(); // what was fetched once lies on the disk
  await door.restart();
  door.contact().answered();
  expect([door.store().revoked().length, asked(door), door.store().isHeadFresh()]).toEqual([
    MANY.length,
    "AUTHORITY_REVOKED",
    true,
  ]);
});

test("SNAP-10: while a page is missing no head counts as fresh, and what was revoked before stays so", async () => {
  const door = await openTrustingDoor();
  await door.poll({
    head: headFrame(door.keys, { issuedAt: NOW + 1, revoked: [{ kind: "node_identity", id: NODE }] }),
  });
  offer(door, sealed.slice(1));
  await door.poll({ head: headAt(door, 2) });
  expect([door.store().isHeadFresh(), asked(door)]).toEqual([false, "AUTHORITY_REVOKED"]);
  offer(door);
  await door.poll(); // a poll that brings nothing new fetches what is missing
  expect(door.store().isHeadFresh()).toBe(true);
  expect(door.store().revoked()).not.toContainEqual({ kind: "node_identity", id: NODE });
});

test("SNAP-10: while a page is missing nothing of high risk is done (HEAD_STALE)", async () => {
  const door = await openTrustingDoor();
  await door.poll({ head: headAt(door, 1) });
  expect(asked(door)).toBe("HEAD_STALE");
});

test("SNAP-10: a page with other bytes than the head names is not taken, in a poll or on the disk", async () => {
  const door = await openTrustingDoor();
  offer(door);
  door.pages.set(sealed[0]!.digest, sealed[1]!.bytes);
  await door.poll({ head: headAt(door, 1) });
  expect(door.store().isHeadFresh()).toBe(false);
  offer(door);
  await door.poll();
  expect(door.store().isHeadFresh()).toBe(true);
  const frames = join(door.dataDir, "snapshots", "frames");
  const files = (await readdir(frames)).filter((name) => name.endsWith(".page"));
  expect(files).toHaveLength(sealed.length);
  for (const copy of ["", ".copy"]) {
    await writeFile(join(frames, `${files[0]!}${copy}`), "[]");
    await rm(join(frames, `${files[1]!}${copy}`));
  }
  await door.restart();
  door.contact().answered();
  expect(door.store().isHeadFresh()).toBe(false);
  await door.poll();
  expect([door.store().isHeadFresh(), asked(door)]).toEqual([true, "AUTHORITY_REVOKED"]);
});

test("SNAP-10: while a page is missing, each revocation is kept once, however many heads come", async () => {
  const door = await openTrustingDoor();
  offer(door, sealed.slice(0, -1));
  for (const later of [1, 2, 3]) {
    await door.poll({ head: headAt(door, later) });
    expect(door.store().isHeadFresh()).toBe(false);
    expect(door.store().revoked()).toHaveLength(MANY.length - REVOCATIONS_PER_PAGE);
  }
});

/** Answers with pages on offer; fails for all others, as the code says. Notes the order of requests. */
function fetchOf(offered: readonly (typeof sealed)[number][], code: "NOT_FOUND" | "UNREACHABLE") {
  const fetched: string[] = [];
  const fetch = async (digest: Digest) => {
    fetched.push(digest);
    const page = offered.find((each) => each.digest === digest);
    if (page === undefined) throw new FairleadError(code, "no page");
    return page.bytes;
  };
  return { fetched, fetch };
}
const digests = sealed.map(({ digest }) => digest);

test.each(["NOT_FOUND", "UNREACHABLE"] as const)(
  "SNAP-10: a page that answers %s does not stop the pages behind it, and is asked for last the next time",
  async (code) => {
    const door = await openTrustingDoor();
    await door.poll({ head: headAt(door, 1) });
    const first = fetchOf(sealed.slice(1), code);
    expect(await door.store().fetchRevoked(first.fetch)).toMatchObject([{ digest: digests[0], code }]);
    expect(first.fetched).toEqual(digests);
    expect(door.store().revoked()).toHaveLength(MANY.length - REVOCATIONS_PER_PAGE);
    expect(door.store().isHeadFresh()).toBe(false);
    const second = fetchOf(sealed, code);
    expect(await door.store().fetchRevoked(second.fetch)).toEqual([]);
    expect([second.fetched, door.store().isHeadFresh()]).toEqual([[digests[0]], true]);
  },
);

test("SNAP-10: two pages in a row that nobody answers end the fetch, and the next one begins with the others", async () => {
  const door = await openTrustingDoor();
  await door.poll({ head: headAt(door, 1) });
  const away = fetchOf(sealed.slice(2), "UNREACHABLE");
  expect(await door.store().fetchRevoked(away.fetch)).toHaveLength(2);
  expect(away.fetched).toEqual(digests.slice(0, 2));
  const again = fetchOf(sealed.slice(2), "UNREACHABLE");
  await door.store().fetchRevoked(again.fetch);
  expect(again.fetched).toEqual([...digests.slice(2), ...digests.slice(0, 2)]);
  expect(asked(door)).toBe("HEAD_STALE");
  expect(await door.store().fetchRevoked(fetchOf(sealed, "UNREACHABLE").fetch)).toEqual([]);
  expect(asked(door)).toBe("AUTHORITY_REVOKED");
});

test("SNAP-10: a page that two polls could not fetch is a rejection of this node, told once (REVOCATION_PAGE_MISSING)", async () => {
  const door = await openTrustingDoor();
  offer(door, sealed.slice(1));
  expect(await door.poll({ head: headAt(door, 1) })).toBeNull(); // pages may have changed since the head was signed
  const rejection = await door.poll();
  expect(rejection).toMatchObject({ code: "REVOCATION_PAGE_MISSING", subject: digests[0] });
  expect(await door.poll()).toBeNull();
  offer(door);
  await door.poll();
  expect(door.store().isHeadFresh()).toBe(true);
});

test("SNAP-10: a page with other bytes is told like one that is missing", async () => {
  const door = await openTrustingDoor();
  offer(door);
  door.pages.set(digests[0]!, sealed[1]!.bytes);
  await door.poll({ head: headAt(door, 1) });
  expect(await door.poll()).toMatchObject({
    code: "REVOCATION_PAGE_MISSING",
    reason: expect.stringContaining("other bytes") as string,
  });
});

test("SNAP-10: pages that no head names any more are removed", async () => {
  const door = await openTrustingDoor();
  offer(door);
  await door.poll({ head: headAt(door, 1) });
  const few = sealed.slice(0, 2);
  await door.poll({
    head: headFrame(door.keys, { issuedAt: NOW + 2, pages: few.map(({ digest }) => digest) }),
  });
  await door.restart();
  const files = await readdir(join(door.dataDir, "snapshots", "frames"));
  expect(files.filter((name) => name.endsWith(".page"))).toHaveLength(2);
});

test("SNAP-10: paging leaves nothing out, at every size around a page", () => {
  for (const size of [0, 1, REVOCATIONS_PER_PAGE, REVOCATIONS_PER_PAGE + 1, 3 * REVOCATIONS_PER_PAGE]) {
    const all = MANY.slice(0, size);
    const paged = pageRevocations(all);
    expect([...paged.pages.flat(), ...paged.rest]).toEqual(all);
    expect(paged.rest.length).toBeLessThanOrEqual(REVOCATIONS_PER_PAGE);
    expect(paged.pages.every((page) => page.length === REVOCATIONS_PER_PAGE)).toBe(true);
  }
});
