// A reboot out of contact with damaged files or ended keys: a known revocation and an accepted policy bind a start all
// the same (SNAP-9, SNAP-10, ADR 25).
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DegradedBody } from "../../../src/core/snapshot/contents.ts";
import { pageRevocations, type Revocation } from "../../../src/core/snapshot/revocation.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { sealPage } from "../../../src/trust/revocation-page.ts";
import { bootstrapFrame, headFrame, PERMISSIVE, policyFrame } from "../../support/snapshot-frames.ts";
import {
  assignmentFrame,
  at,
  bundleFrame,
  bundleOf,
  HOUR_MS,
  newSigner,
  NODE,
  NOW,
  PROFILE,
} from "../../support/trust.ts";
import { openDoor, type Door } from "./door.ts";

const NEVER: DegradedBody = { ...PERMISSIVE, restart_after_expiry: "never" };
const UNNAMED: DegradedBody = { ...PERMISSIVE, allowed: ["report_status"] };
const FIRST_BUNDLE_END = NOW + HOUR_MS;
const LATER = NOW + 100 * HOUR_MS;

const framesOf = (door: Door) => join(door.dataDir, "snapshots", "frames");
async function damage(door: Door, name: string): Promise<void> {
  const path = join(framesOf(door), name);
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}
const start = (door: Door) =>
  door.keeper().ask("continue_services", { kind: "service_assignment", id: PROFILE });

interface Site {
  readonly policy?: DegradedBody;
  readonly revoked?: readonly Revocation[];
  readonly onlineKeyEnd?: number;
}

/** Two trust bundles, the first of which ends early; then whatever the site has. */
async function siteOf({ policy, revoked, onlineKeyEnd }: Site): Promise<Door> {
  const door = await openDoor();
  const { keys } = door;
  const first = { expires_at: at(FIRST_BUNDLE_END), refresh_after: at(NOW) };
  const bundle = bundleOf(keys);
  const online_keys = bundle.online_keys.map((key) => ({
    ...key,
    valid_until: onlineKeyEnd === undefined ? key.valid_until : at(onlineKeyEnd),
  }));
  const second = bundleFrame(keys, { bundle: { ...bundle, online_keys }, header: { config_version: 2 } });
  await door.poll({ snapshots: [bundleFrame(keys, { header: first })] });
  const rejected = await door.poll({
    snapshots: [
      second,
      bootstrapFrame(keys, 1, ["egress_service"]),
      ...(policy === undefined ? [] : [policyFrame(keys, 1, policy)]),
      assignmentFrame(keys),
    ],
    head: headFrame(keys, { revoked: [...(revoked ?? [])] }),
  });
  expect(rejected).toBeNull();
  return door;
}

const ASSIGNMENT_END = NOW + 24 * HOUR_MS;
/** The files, and when the authority of the assignment ended. */
const DAMAGES: readonly (readonly [string, readonly string[], number])[] = [
  ["a damaged trust bundle and an expired previous one", ["trust_bundle.1.2.frame"], FIRST_BUNDLE_END],
  ["two damaged trust bundles", ["trust_bundle.1.1.frame", "trust_bundle.1.2.frame"], ASSIGNMENT_END],
  ["a damaged bootstrap", ["node_bootstrap.1.1.frame"], ASSIGNMENT_END],
];

describe.each(DAMAGES)("rebooted out of contact with %s", (_, names, expiredSince) => {
  async function rebooted(site: Site): Promise<Door> {
    const door = await siteOf(site);
    for (const name of names) await damage(door, name);
    door.world.now = LATER;
    await door.restart();
    return door;
  }

  test("SNAP-9: an accepted policy that forbids restarts on expired authority closes the gate", async () => {
    expect(start(await rebooted({ policy: NEVER }))).toMatchObject({
      kind: "closed",
      code: "DEGRADED_TIME_OVER",
    });
  });

  test("SNAP-9: an accepted policy that does not name continue_services closes the gate", async () => {
    expect(start(await rebooted({ policy: UNNAMED }))).toMatchObject({
      kind: "closed",
      code: "DEGRADED_NOT_ALLOWED",
    });
  });

  test.each([
    ["this node", { kind: "node_identity", id: NODE }],
    ["the service", { kind: "service_assignment", id: PROFILE }],
    ["the permission", { kind: "degraded_permission", id: "continue_services" }],
  ] as const)("SNAP-10: the head's revocation of %s closes the gate", async (_what, revocation) => {
    expect(start(await rebooted({ revoked: [revocation] }))).toMatchObject({
      kind: "closed",
      code: "AUTHORITY_REVOKED",
    });
  });

  test("SNAP-9: without a policy and a revocation the start is open, as one on expired authority", async () => {
    expect(start(await rebooted({}))).toEqual({ kind: "open", expiredSince });
  });

  test("SNAP-9: a policy allows nothing else once it cannot be verified", async () => {
    const gate = (await rebooted({ policy: PERMISSIVE })).keeper().ask("report_status");
    expect(gate).toMatchObject({ kind: "closed" });
  });
});

describe("rebooted out of contact after the signing key ended", () => {
  const KEY_END = NOW + 2 * HOUR_MS;
  const BEFORE_POLICY_END = NOW + 5 * HOUR_MS;

  async function rebooted(site: Site): Promise<Door> {
    const door = await siteOf({ ...site, onlineKeyEnd: KEY_END });
    door.world.now = BEFORE_POLICY_END;
    await door.restart();
    return door;
  }

  test("SNAP-9: a policy that forbids closes the gate from the end of its key", async () => {
    expect(start(await rebooted({ policy: NEVER }))).toMatchObject({ code: "DEGRADED_TIME_OVER" });
    expect(start(await rebooted({ policy: UNNAMED }))).toMatchObject({ code: "DEGRADED_NOT_ALLOWED" });
  });

  test("SNAP-10: a revocation by a head of that key closes the gate", async () => {
    const revoked = [{ kind: "node_identity", id: NODE }] as const;
    expect(start(await rebooted({ revoked }))).toMatchObject({ code: "AUTHORITY_REVOKED" });
  });

  test("SNAP-9: a permissive policy allows nothing else, and a start names the end of the key", async () => {
    const door = await rebooted({ policy: PERMISSIVE });
    expect(door.keeper().ask("report_status")).toMatchObject({ code: "DEGRADED_TIME_OVER" });
    expect(start(door)).toEqual({ kind: "open", expiredSince: KEY_END });
  });
});

describe("a trust bundle without the key that signed head and policy", () => {
  async function under(changes: (door: Door) => Partial<TrustBundle>): Promise<Door> {
    const door = await siteOf({ policy: NEVER, revoked: [{ kind: "node_identity", id: NODE }] });
    const next = { ...door.keys, online: newSigner() };
    const bundle = bundleOf(next, changes(door));
    expect(
      await door.poll({ snapshots: [bundleFrame(door.keys, { bundle, header: { config_version: 3 } })] }),
    ).toBeNull();
    door.world.now = LATER;
    await door.restart();
    return door;
  }

  test("SNAP-10: where the key was retired, both stay binding until newer ones come", async () => {
    const door = await under(() => ({}));
    expect(start(door)).toMatchObject({ code: "AUTHORITY_REVOKED" });
    expect(door.store().policy()).toMatchObject({ body: NEVER });
  });

  test("SNAP-8: where the key was revoked, nothing that it signed binds any more", async () => {
    const door = await under(({ keys }) => ({ revoked_keys: [keys.online.record.key_id] }));
    expect(start(door)).toEqual({ kind: "open", expiredSince: NOW });
  });
});

describe("a damaged policy", () => {
  test("SNAP-9: one damaged copy is no loss: the policy still forbids", async () => {
    for (const name of ["degraded_mode_policy.1.1.frame", "degraded_mode_policy.1.1.frame.copy"]) {
      const door = await siteOf({ policy: NEVER });
      await damage(door, name);
      door.world.now = LATER;
      await door.restart();
      expect(start(door)).toMatchObject({ code: "DEGRADED_TIME_OVER" });
    }
  });

  test("SNAP-9: with both copies damaged no program is started alone, and contact with a fresh head opens the gate", async () => {
    const door = await siteOf({ policy: PERMISSIVE });
    for (const name of ["degraded_mode_policy.1.1.frame", "degraded_mode_policy.1.1.frame.copy"])
      await damage(door, name);
    await door.restart();
    expect(start(door)).toMatchObject({
      code: "DEGRADED_NOT_ALLOWED",
      reason: "the degraded_mode_policy that was accepted is damaged on this disk",
    });
    expect(
      await door.poll({
        snapshots: [policyFrame(door.keys, 1, PERMISSIVE)],
        head: headFrame(door.keys, { issuedAt: NOW + 1 }),
      }),
    ).toBeNull();
    expect(start(door)).toEqual({ kind: "open" });
    await door.restart();
    expect(start(door)).toEqual({ kind: "open" });
  });

  test("SNAP-9: a policy that an older agent stored once gets its copy at the next start", async () => {
    const door = await siteOf({ policy: NEVER });
    await rm(join(framesOf(door), "degraded_mode_policy.1.1.frame.copy"));
    await door.restart();
    await damage(door, "degraded_mode_policy.1.1.frame");
    door.world.now = LATER;
    await door.restart();
    expect(start(door)).toMatchObject({ code: "DEGRADED_TIME_OVER" });
  });
});

test("SNAP-10: a damaged copy of a page of revocations loses no revocation, also under an expired trust bundle", async () => {
  const door = await siteOf({});
  const many: Revocation[] = [
    { kind: "service_assignment", id: PROFILE },
    ...Array.from({ length: 600 }, (_, index) => ({ kind: "peer", id: `peer-${index}` }) as const),
  ];
  const { pages, rest } = pageRevocations(many);
  const sealed = pages.map(sealPage);
  for (const { digest, bytes } of sealed) door.pages.set(digest, bytes);
  const digests = sealed.map(({ digest }) => digest);
  await door.poll({ head: headFrame(door.keys, { issuedAt: NOW + 1, revoked: [...rest], pages: digests }) });
  const name = (await readdir(framesOf(door))).find((each) => each.endsWith(".page"))!;
  await damage(door, name);
  await damage(door, "trust_bundle.1.2.frame");
  door.world.now = LATER;
  await door.restart();
  await door.restart();
  expect(start(door)).toMatchObject({ code: "AUTHORITY_REVOKED" });
});
