/**
 * Every replica and the online key are stolen (SNAP-15, SNAP-16): the thief writes into the real server's database and
 * signs as the control plane. Whatever an operator did not sign is refused, shown, and stops nothing.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Digest } from "../../../src/core/ids.ts";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import type { NodeView } from "../../../src/core/protocol/operator-api.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { NODE_TYPE } from "../../support/lab/agent-of-node.ts";
import { noteAttempt, printAttempts } from "../../support/lab/attempts.ts";
import { openLabDatabase } from "../../support/lab/database.ts";
import { eventually } from "../../support/lab/eventually.ts";
import type { Lie } from "../../support/lab/forge.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import type { Published } from "../../support/lab/origin.ts";
import { completed, createArgs, endingOf, runCreate, startRollout } from "../../support/lab/rollout.ts";
import { thief } from "../../support/lab/thief.ts";
import { heldBack } from "./stolen-control-plane/held-back.ts";

type Signed = Published & { readonly checksum: Digest };

let lab: Lab;
let db: Database;
let stolen: Awaited<ReturnType<typeof thief>>;
/** An operator signed for `named`, first to version 2 and then back; never for `other`. */
let named: LabNode;
let other: LabNode;
let v1: Signed;
let v2: Signed;
let evil: Signed;
let there: string;
let back: string;
let signedFor: Digest;
let before: { readonly instance_id: string; readonly starts: readonly string[] }[];

const publish = (version: string): Signed => {
  const published = lab.origin.publish(version);
  return { ...published, checksum: Digest.parse(published.checksum) };
};

beforeAll(async () => {
  lab = await startLab();
  const machines = [{ name: "named" }, { name: "other" }, { name: "store", profile: "database" }];
  [named, other] = (await addRunningNodes(lab, machines)) as [LabNode, LabNode, LabNode];
  [v1, v2, evil] = [publish("1.0.0"), publish("2.0.0"), publish("6.6.6")];
  there = await startRollout(lab, { from: "1.0.0", to: v2, nodes: ["named"] });
  expect(await endingOf(lab, there)).toEqual(completed([named]));
  back = await startRollout(lab, { from: "2.0.0", to: v1, nodes: ["named"] });
  expect(await endingOf(lab, back)).toEqual(completed([named]));
  signedFor = (await lab.operator.rollout(back)).intent!.digest;
  db = await openLabDatabase(lab);
  stolen = await thief(lab, db);
}, 200_000);
afterAll(async () => {
  printAttempts();
  await db.end({ timeout: 1 });
  await lab.stop();
}, 120_000);

const standing = (): Promise<typeof before> =>
  Promise.all(
    [named, other].map(async (node) => ({
      instance_id: (await node.running()).instance_id,
      starts: await node.starts(),
    })),
  );
let began: number;
beforeEach(async () => {
  began = Date.now();
  before = await standing();
});

/** Refused with its code, shown by `fairlead node show` in words and as JSON, and nothing was stopped or started. */
async function expectRefusal({ name }: LabNode, code: string): Promise<void> {
  const rejection = await eventually(`${name} refuses with ${code}`, async () => {
    const { last_rejection } = await lab.operator.node(name);
    const isNew = last_rejection !== null && Date.parse(last_rejection.at) >= began; // not the test's before it
    return isNew && last_rejection.code === code && last_rejection;
  });
  noteAttempt(attemptOf(expect.getState().currentTestName!), name, code);
  await stolen.withdraw(name);
  const text = await lab.operator.fairlead("node", "show", name);
  expect(text.out).toMatch(new RegExp(`last rejection\\n +code +${code}\\n`));
  expect(text.out).toContain(rejection.reason);
  const json = await lab.operator.fairlead("node", "show", name, "--json");
  expect(json.json<NodeView>().last_rejection).toMatchObject({ code, reason: rejection.reason });
  expect(await standing()).toEqual(before);
  expect([await named.running(), await other.running()]).toMatchObject([
    { version: "1.0.0" },
    { version: "1.0.0" },
  ]);
}

/** The title without its requirement and without the code at its end. */
const attemptOf = (title: string): string => title.replace(/^.*: /, "").replace(/ is [A-Z_]+$/, "");

const lieTo = <C extends Partial<Lie>>({ name, profile }: LabNode, changes: C): Lie & C => ({
  node: name,
  profile,
  rolloutId: back,
  current: v1.checksum,
  target: v1,
  intentDigest: signedFor,
  ...changes,
});

async function createGroup(): Promise<string> {
  const { version, url, checksum } = v2;
  const component = {
    chain_profile_id: named.profile,
    node_type: NODE_TYPE,
    source_version: "1.0.0",
    binary_name: "hello",
    target_version: version,
    target_binary_url: url,
    target_binary_checksum: checksum,
  };
  const group = {
    chain_profile_id: named.profile,
    failure_policy: "manual",
    desired_versions: { hello: version },
    components: [component],
  };
  const file = join(lab.folder, "group.json"); // JSON is YAML
  await writeFile(file, JSON.stringify(group));
  const created = await lab.operator.fairlead("group", "create", "--file", file, "--json");
  return created.json<GroupView>().id;
}

describe("with the control plane and its online key stolen", () => {
  test("SNAP-16: a command that the node carried out, sent again byte for byte, is COMMAND_REPLAYED", async () => {
    await stolen.replay("named", there);
    await expectRefusal(named, "COMMAND_REPLAYED");
  });

  test("SNAP-16: a new command with an old sequence is COMMAND_REPLAYED", async () => {
    await stolen.lie(lieTo(other, { sequence: 1, target: evil, intentDigest: null }));
    await expectRefusal(other, "COMMAND_INTENT_MISSING"); // nothing came before it: its number is new here
    await stolen.lie(lieTo(other, { sequence: 1, target: evil, intentDigest: null }));
    await expectRefusal(other, "COMMAND_REPLAYED");
  });

  test("SNAP-15: a command without an operator's intent is COMMAND_INTENT_MISSING", async () => {
    await stolen.lie(lieTo(named, { target: evil, intentDigest: null }));
    await expectRefusal(named, "COMMAND_INTENT_MISSING");
  });

  test("SNAP-15: an operator's intent used for other bytes is INTENT_MISMATCH", async () => {
    await stolen.lie(lieTo(named, { target: evil }));
    await expectRefusal(named, "INTENT_MISMATCH");
  });

  test("SNAP-15: an intent that was signed for another profile is INTENT_MISMATCH", async () => {
    const id = await runCreate(
      lab,
      createArgs({ profile: "database", from: "1.0.0", to: v2, nodes: ["store"] }),
    );
    const { digest } = (await lab.operator.rollout(id)).intent!;
    await stolen.lie(lieTo(named, { rolloutId: id, target: v2, intentDigest: digest }));
    await expectRefusal(named, "INTENT_MISMATCH");
  });

  test("SNAP-15: an old version that an operator signed for once is INTENT_SERIAL_OLD", async () => {
    const { digest } = (await lab.operator.rollout(there)).intent!;
    await stolen.lie(lieTo(named, { rolloutId: there, target: v2, intentDigest: digest }));
    await expectRefusal(named, "INTENT_SERIAL_OLD");
  });

  test("SNAP-15: an intent that was signed for another node is INTENT_WRONG_NODE", async () => {
    await stolen.lie(lieTo(other, {}));
    await expectRefusal(other, "INTENT_WRONG_NODE");
  });

  test("SNAP-16: a command under an assignment that has expired is ASSIGNMENT_EXPIRED", async () => {
    const lie = lieTo(other, { assignmentLifetimeMs: 3_000 });
    await stolen.command(lie, await stolen.assignUntilExpired(lie));
    await expectRefusal(other, "ASSIGNMENT_EXPIRED");
  });

  test("SNAP-15: an intent that its operator has called off by a cancel is INTENT_SERIAL_OLD", async () => {
    const id = await runCreate(lab, createArgs({ from: "1.0.0", to: v2, nodes: ["named"] }));
    const { digest } = (await lab.operator.rollout(id)).intent!;
    expect((await lab.operator.fairlead("rollout", "cancel", id)).out).toContain("signed as called off");
    await stolen.lie(lieTo(named, { rolloutId: id, target: v2, intentDigest: digest }));
    await expectRefusal(named, "INTENT_SERIAL_OLD");
  });

  test("SNAP-15: a component of a group that its operator has called off is INTENT_SERIAL_OLD", async () => {
    const id = await createGroup();
    const { components } = await lab.operator.group(id);
    const { id: rolloutId, intent } = components[0]!.rollout;
    const cancelled = await lab.operator.fairlead("group", "cancel", id);
    expect(cancelled.out).toContain("1 of its components signed as called off");
    await eventually("the group has ended", async () => (await lab.operator.group(id)).ended_at !== null);
    await stolen.lie(lieTo(named, { rolloutId, target: v2, intentDigest: intent!.digest }));
    await expectRefusal(named, "INTENT_SERIAL_OLD");
  });

  test("SNAP-15: what an operator signs afterwards still runs", async () => {
    const id = await startRollout(lab, { from: "1.0.0", to: v2 });
    expect(await endingOf(lab, id)).toEqual(completed([named, other]));
    expect([await named.running(), await other.running()]).toMatchObject([
      { version: "2.0.0" },
      { version: "2.0.0" },
    ]);
  });
});

heldBack(() => ({ lab, db, forger: stolen.forger, node: named }));
