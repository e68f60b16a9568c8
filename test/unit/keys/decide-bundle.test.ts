import { describe, expect, test } from "vitest";
import { decideBundle } from "../../../src/core/keys/decide-bundle.ts";
import { KEY_STATES, KEY_TRANSITIONS, mayBecome } from "../../../src/core/snapshot/signing-keys.ts";
import { NOW } from "../../support/trust.ts";
import { bundle, idOf, keyRow, next, node, onlineKey, releaseKey, scene, signers } from "./scenes.ts";

const listed = bundle().online_keys;
const both = bundle({ online_keys: [...listed, onlineKey(next)] });
const onlyNext = bundle({ online_keys: [onlineKey(next)] });
const old = idOf(signers.online);

describe("what a trust bundle does to the keys (SNAP-8)", () => {
  test("SNAP-8: an online key that comes is introduced; release and publisher keys count at once", () => {
    const after = bundle({
      online_keys: both.online_keys,
      publisher_keys: [{ ...releaseKey(signers.roots[1]), name: "builds" }],
    });
    expect(decideBundle(scene({ after }))).toMatchObject({
      kind: "taken",
      successor: null,
      steps: [],
      arrivals: [
        { authority: "online", state: "introduced", from: null },
        { authority: "publisher", state: "active", from: null },
      ],
    });
  });

  test("SNAP-8: a key that the server proposed goes on from there", () => {
    const keys = [...scene().keys, keyRow(next, "online", "proposed", { bundle_version: null })];
    expect(decideBundle(scene({ keys, after: both }))).toMatchObject({
      arrivals: [{ from: "proposed", state: "introduced" }],
    });
  });

  test.each(["introduced", "active", "retiring", "retired", "revoked"] as const)(
    "SNAP-8: a key that is %s does not come in again",
    (state) => {
      const keys = [keyRow(signers.online, "online", "active"), keyRow(next, "online", state)];
      expect(decideBundle(scene({ keys, after: both }))).toMatchObject({
        kind: "refused",
        code: "KEY_STATE",
      });
    },
  );

  test("SNAP-8: a key keeps its authority", () => {
    const keys = [...scene().keys, keyRow(next, "release", "proposed")];
    expect(decideBundle(scene({ keys, after: both }))).toMatchObject({ code: "KEY_STATE" });
  });

  test("SNAP-8: the key that signs cannot be removed, only replaced first", () => {
    expect(decideBundle(scene({ before: both, after: onlyNext }))).toMatchObject({ code: "KEY_STATE" });
    expect(decideBundle(scene({ after: bundle({ release_keys: [] }) }))).toMatchObject({ code: "KEY_STATE" });
  });

  test("SNAP-8: a key that was introduced and never promoted may leave at once", () => {
    const keys = [...scene().keys, keyRow(next, "online", "introduced")];
    expect(decideBundle(scene({ keys, before: both, nodes: [node("val-1", null)] }))).toMatchObject({
      steps: [{ key_id: idOf(next), from: "introduced", to: "retired" }],
    });
  });

  test("SNAP-8: revocation waits for nobody, and the only online key is replaced in the same bundle", () => {
    const after = bundle({ online_keys: [onlineKey(next)], revoked_keys: [old] });
    const nodes = [node("val-1", null, ["service_assignment"])];
    expect(decideBundle(scene({ after, nodes }))).toMatchObject({
      kind: "taken",
      successor: idOf(next),
      arrivals: [{ state: "active" }],
      steps: [{ key_id: old, from: "active", to: "revoked" }],
    });
  });

  test("SNAP-8: a revocation that would leave nobody to sign is refused", () => {
    const revoked_keys = [old];
    expect(decideBundle(scene({ after: bundle({ online_keys: [], revoked_keys }) }))).toMatchObject({
      code: "KEY_STATE",
    });
    const elsewhere = scene({ after: bundle({ online_keys: [onlineKey(next)], revoked_keys }), held: [old] });
    expect(decideBundle(elsewhere)).toMatchObject({ code: "KEY_STATE" });
  });

  test("SNAP-8: when the active key is revoked in the middle of a rotation, the other one signs", () => {
    const keys = [keyRow(signers.online, "online", "retiring"), keyRow(next, "online", "active")];
    const after = bundle({ revoked_keys: [idOf(next)] });
    expect(decideBundle(scene({ keys, before: both, after }))).toMatchObject({
      successor: old,
      steps: [
        { key_id: idOf(next), to: "revoked" },
        { key_id: old, from: "retiring", to: "active" },
      ],
    });
  });

  test("SNAP-11: a new epoch waits for nobody: a restored database may not know who signs", () => {
    const wish = { after: onlyNext, nodes: [node("val-1", 9, ["service_assignment"])] };
    expect(decideBundle(scene({ ...wish, recovery: false }))).toMatchObject({ kind: "refused" });
    expect(decideBundle(scene({ ...wish, recovery: true }))).toMatchObject({
      successor: idOf(next),
      steps: [{ key_id: old, to: "retired" }],
    });
  });

  test("SNAP-8: no decision leaves the table of states", () => {
    for (const from of KEY_STATES)
      for (const to of KEY_STATES)
        expect(mayBecome(from, to)).toBe((KEY_TRANSITIONS[from] as readonly string[]).includes(to));
    expect(KEY_TRANSITIONS.revoked).toEqual([]);
    expect(KEY_TRANSITIONS.retired).toEqual(["revoked"]);
  });
});

describe("a key that leaves (SNAP-8)", () => {
  const nodes = [node("val-1", 2), node("val-2", 2, ["service_assignment"]), node("val-3", 1)];
  const [, unsigned, unaware] = nodes as [never, (typeof nodes)[0], (typeof nodes)[0]];
  const keys = [
    keyRow(signers.online, "online", "retiring", { retire_by: NOW + 1 }),
    keyRow(next, "online", "active", { bundle_version: 2 }),
  ];
  const leaving = (more = {}) => decideBundle(scene({ keys, before: both, after: onlyNext, nodes, ...more }));
  const over = { now: NOW + 1 };

  test("SNAP-8: it leaves when every node has applied what its successor signed", () => {
    expect(leaving({ nodes: [nodes[0]] })).toMatchObject({ steps: [{ from: "retiring", to: "retired" }] });
  });

  test("SNAP-8: nodes that need it are named", () => {
    expect(leaving()).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
      detail: { nodes: [{ name: "val-2", behind: ["service_assignment"] }, { name: "val-3" }] },
    });
  });

  test("SNAP-8: nobody is left behind before the deadline, whoever is named", () => {
    expect(leaving({ abandoned: [unsigned.id, unaware.id] })).toMatchObject({ code: "KEY_NOT_CONFIRMED" });
  });

  test("SNAP-8: after the deadline only those who were named are left behind", () => {
    expect(leaving(over)).toMatchObject({ code: "KEY_NOT_CONFIRMED", detail: { count: 2 } });
    expect(leaving({ ...over, abandoned: [unsigned.id] })).toMatchObject({
      detail: { nodes: [{ name: "val-3" }] },
    });
    expect(leaving({ ...over, abandoned: [unsigned.id, unaware.id] })).toMatchObject({ kind: "taken" });
  });

  test("SNAP-8: a release key leaves when every node knows the other one, and never as the last", () => {
    const release = keyRow(signers.release, "release", "retiring", { retire_by: NOW + 1 });
    const second = keyRow(next, "release", "active", { bundle_version: 2 });
    const online = keyRow(signers.online, "online", "active");
    const before = bundle({ release_keys: [...bundle().release_keys, releaseKey(next)] });
    const after = bundle({ release_keys: [releaseKey(next)] });
    const wish = { keys: [online, release, second], before, after };
    expect(decideBundle(scene({ ...wish, nodes: [unsigned] }))).toMatchObject({ kind: "taken" });
    expect(decideBundle(scene({ ...wish, nodes }))).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
      detail: { nodes: [{ name: "val-3" }] },
    });
    expect(decideBundle(scene({ ...wish, keys: [online, release] }))).toMatchObject({ code: "KEY_STATE" });
  });
});
