// The order in which a poll's answer is taken, and how much of it counts (SNAP-12, SNAP-17).
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAnswerTaker } from "../../../src/agent/take-answer.ts";
import type { PollResponse } from "../../../src/core/protocol/agent-api.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { bootstrapFrame, headFrame, policyFrame, routeFrame } from "../../support/snapshot-frames.ts";
import { bundleFrame, bundleOf, HOUR_MS, newKeys, newSigner, NOW } from "../../support/trust.ts";
import { openDoor, openTrustingDoor, viaOf } from "./door.ts";

test("SNAP-12: the bundle is taken first and the bootstrap second, wherever they stand in the answer", async () => {
  const door = await openDoor();
  const { keys } = door;
  const roles = ["egress_service", "thin"] as const;
  const route = routeFrame(keys, 1, { header: { roles: ["thin", "egress_service"] } });
  const snapshots = [route, bootstrapFrame(keys, 1, roles), bundleFrame(keys)];
  expect(await door.poll({ snapshots, head: headFrame(keys) })).toBeNull();
  expect(door.store().versions()).toEqual({
    trust_bundle: { epoch: 1, version: 1 },
    node_bootstrap: { epoch: 1, version: 1 },
    route_policy: { epoch: 1, version: 1 },
  });
});

test("SNAP-10: the head counts before what comes beside it: a role that it revokes lets nothing in", async () => {
  const door = await openTrustingDoor();
  const revoked = [{ kind: "role_assignment" as const, id: "egress_service" }];
  const head = headFrame(door.keys, { issuedAt: NOW + 1, revoked });
  expect(await door.poll({ head, snapshots: [routeFrame(door.keys, 1)] })).toMatchObject({
    code: "SNAPSHOT_SCOPE_EXCEEDED",
  });
});

test("SNAP-8: a head that only the new bundle's key explains is taken with that bundle, in one answer", async () => {
  const door = await openTrustingDoor();
  const next = { ...newKeys(), roots: door.keys.roots };
  const bundle = bundleFrame(door.keys, { bundle: bundleOf(next), header: { config_version: 2 } });
  const head = headFrame(next, { issuedAt: NOW + 1 });
  expect(await door.poll({ head, snapshots: [bundle] })).toBeNull();
  expect(door.store().isHeadFresh()).toBe(true);
});

test("SNAP-12: one bad frame costs nothing but itself", async () => {
  const door = await openTrustingDoor();
  const snapshots = [
    Buffer.from("hello"),
    routeFrame(door.keys, 1, { signer: newSigner() }),
    policyFrame(door.keys, 1),
  ];
  expect(await door.poll({ snapshots, increments: [Buffer.alloc(0)] })).toMatchObject({
    code: "SNAPSHOT_MALFORMED",
  });
  expect(viaOf(door)).toBeUndefined();
  expect(door.store().policy()).toMatchObject({ body: { when_partitioned: "continue" } });
});

test("SNAP-16: what is refused counts as nothing taken, also beside a fresh head; a head alone counts", async () => {
  const door = await openTrustingDoor();
  const answers = createAnswerTaker({
    revocationPage: async () => Promise.reject(new Error("no page is named here")),
    identity: { cluster_id: "", node_id: "" } as never,
    snapshots: door.store(),
    ledger: door.ledger(),
    keeper: door.keeper(),
    programs: {} as never,
    stateDir: door.dataDir,
    clock: { now: () => NOW, monotonic: () => 0 },
    outbox: { add: async () => "written" as const },
    log: silentLogger,
    start: () => undefined,
    beat: () => undefined,
  });
  const answer = (issuedAt: number, commands: PollResponse["commands"] = []): PollResponse => ({
    snapshots: [],
    increments: [],
    head: headFrame(door.keys, { issuedAt }).toString("base64"),
    commands,
    void_intents: [],
  });
  const forged = { command: Buffer.from("forged").toString("base64"), intent: null, proof: [] };
  expect(await answers.take(answer(NOW + 1))).toBe(1);
  expect(await answers.take(answer(NOW + 2, [forged]))).toBe(0);
});

test("SNAP-12: what is kept is for the agent's eyes only", async () => {
  const door = await openTrustingDoor();
  const modeOf = async (name: string) => (await stat(join(door.dataDir, "snapshots", name))).mode & 0o777;
  const modes = await Promise.all(
    [".", "frames", "state.json", "state.copy.json", "frames/trust_bundle.1.1.frame"].map(modeOf),
  );
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600]);
});

test("SNAP-17: a command that is refused stays the last rejection, though something is overdue in the same poll", async () => {
  const door = await openTrustingDoor();
  await door.poll({ snapshots: [routeFrame(door.keys, 1)] });
  door.world.now = NOW + 12 * HOUR_MS;
  door.world.monotonic = 12 * HOUR_MS;
  const forged = { command: Buffer.from("forged").toString("base64"), intent: null, proof: [] };
  expect(await door.poll({ commands: [forged] })).toMatchObject({ subject: "command" });
  expect(door.store().rejections()).toContainEqual(
    expect.objectContaining({ code: "SNAPSHOT_HELD_BACK", scope: "route_policy" }),
  );
  expect(await door.poll()).toBeNull();
});

test("SNAP-15: intents that call a rollout off are taken before the commands of the same answer", async () => {
  const said: string[] = [];
  const log = { ...silentLogger, warn: (text: string) => void said.push(text) };
  const door = await openTrustingDoor({ log });
  const forged = Buffer.from("forged");
  const command = { command: forged.toString("base64"), intent: null, proof: [] };
  await door.poll({ commands: [command], voidIntents: [forged] });
  expect(said).toEqual(["empty intent refused", "command refused"]);
});
