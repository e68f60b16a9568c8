// What a node holds of what was signed for it, over restarts and damage (SNAP-12).
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  assignmentFrame,
  bundleFrame,
  bundleOf,
  fingerprint,
  newKeys,
  upgrading,
} from "../../support/trust.ts";
import { createNode, type Node } from "./node.ts";

const assignment = (node: Node, config_version: number, target = fingerprint("v2")) =>
  assignmentFrame(node.keys, {
    header: { config_version },
    content: { assignments: [upgrading({ target })] },
  });
const targetOf = (node: Node) => node.snapshots().assignment()?.content.assignments[0]?.target;
const framesOf = (node: Node) => join(node.dataDir, "snapshots", "frames");
const frameOf = (node: Node, name: string) => join(framesOf(node), name);

test("what was accepted is held, reported and held again after a restart", async () => {
  const node = await createNode();
  await node.snapshots().apply(assignment(node, 4));
  for (const step of ["running", "restarted"]) {
    if (step === "restarted") await node.restart();
    expect(node.snapshots().bundle()).toEqual(bundleOf(node.keys));
    expect(targetOf(node)).toBe(fingerprint("v2"));
    expect(node.snapshots().versions()).toEqual({
      trust_bundle: { epoch: 1, version: 1 },
      service_assignment: { epoch: 1, version: 4 },
    });
  }
});

test("a refusal leaves the previous snapshot active and on disk (SNAP-7)", async () => {
  const node = await createNode();
  await node.snapshots().apply(assignment(node, 4));
  const before = await readdir(framesOf(node));
  expect(await node.snapshots().apply(assignment(node, 3))).toMatchObject({ code: "SNAPSHOT_ROLLBACK" });
  expect(await node.snapshots().apply(Buffer.from("hello"))).toMatchObject({ code: "SNAPSHOT_MALFORMED" });
  expect(targetOf(node)).toBe(fingerprint("v2"));
  expect(await readdir(framesOf(node))).toEqual(before);
});

test("versions only go up, also after a restart", async () => {
  const node = await createNode();
  await node.snapshots().apply(assignment(node, 4));
  await node.restart();
  expect(await node.snapshots().apply(assignment(node, 4, fingerprint("v3")))).toMatchObject({
    code: "SNAPSHOT_ROLLBACK",
  });
  expect((await node.snapshots().apply(assignment(node, 5, fingerprint("v3")))).kind).toBe("accepted");
  expect(targetOf(node)).toBe(fingerprint("v3"));
});

test("an older frame put back on the disk is not taken for the accepted one", async () => {
  const node = await createNode();
  const old = assignment(node, 4);
  await node.snapshots().apply(assignment(node, 5, fingerprint("v3")));
  await writeFile(frameOf(node, "service_assignment.1.5.frame"), old);
  await node.restart();
  expect(node.snapshots().assignment()).toBeNull();
});

test.each(["missing", "damaged"])(
  "an assignment's frame that is %s is asked for again, and nothing older is taken",
  async (how) => {
    const node = await createNode();
    await node.snapshots().apply(assignment(node, 5));
    const file = frameOf(node, "service_assignment.1.5.frame");
    if (how === "missing") await rm(file);
    else await writeFile(file, (await readFile(file)).subarray(1));
    await node.restart();
    expect(node.snapshots().assignment()).toBeNull();
    expect(node.snapshots().versions()).toEqual({ trust_bundle: { epoch: 1, version: 1 } });
    expect(await node.snapshots().apply(assignment(node, 4))).toMatchObject({ code: "SNAPSHOT_ROLLBACK" });
    expect((await node.snapshots().apply(assignment(node, 5))).kind).toBe("accepted");
    expect(node.snapshots().versions()).toMatchObject({ service_assignment: { epoch: 1, version: 5 } });
  },
);

test("a trust bundle changed on the disk is not believed: the node starts without one and asks for it again", async () => {
  const node = await createNode();
  const good = await readFile(frameOf(node, "trust_bundle.1.1.frame"));
  await writeFile(frameOf(node, "trust_bundle.1.1.frame"), bundleFrame(newKeys()));
  await node.restart();
  expect(node.snapshots().bundle()).toBeNull();
  expect(node.snapshots().resync()).toEqual(["trust_bundle"]);
  expect(node.snapshots().versions()).toEqual({});
  const foreign = bundleFrame(newKeys(), { header: { config_version: 2 } });
  expect(await node.snapshots().apply(foreign)).toMatchObject({ code: "SNAPSHOT_KEY_UNTRUSTED" });
  expect((await node.snapshots().apply(good)).kind).toBe("accepted");
  expect(node.snapshots().bundle()).toEqual(bundleOf(node.keys));
  expect(node.snapshots().resync()).toEqual([]);
});
