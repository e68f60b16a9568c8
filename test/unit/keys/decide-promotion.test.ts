import { describe, expect, test } from "vitest";
import { decidePromotion } from "../../../src/core/keys/decide-promotion.ts";
import { KEY_STATES, type KeyState } from "../../../src/core/snapshot/signing-keys.ts";
import { NOW } from "../../support/trust.ts";
import { idOf, keyRow, next, node, signers } from "./scenes.ts";

const [behind, ready] = [node("val-1", 1), node("val-2", 2)];
const never = node("val-3", null);

const promotion = (state: KeyState, more: Partial<Parameters<typeof decidePromotion>[0]> = {}) =>
  decidePromotion({
    keys: [
      keyRow(signers.online, "online", "active"),
      keyRow(next, "online", state, { bundle_version: state === "proposed" ? null : 2 }),
    ],
    keyId: idOf(next),
    nodes: [ready],
    abandoned: [],
    retireBy: NOW + 1_000,
    ...more,
  });

describe("promotion of an online key (SNAP-8)", () => {
  test("SNAP-8: an introduced key that every node confirmed becomes active, and the one before it retires by a deadline", () => {
    expect(promotion("introduced")).toEqual({
      kind: "promoted",
      steps: [
        { key_id: idOf(signers.online), from: "active", to: "retiring", retire_by: NOW + 1_000 },
        { key_id: idOf(next), from: "introduced", to: "active", retire_by: null },
      ],
    });
  });

  test("SNAP-8: a key on its way out may come back while it is not gone", () => {
    expect(promotion("retiring")).toMatchObject({ kind: "promoted" });
  });

  test.each(KEY_STATES.filter((state) => state !== "introduced" && state !== "retiring"))(
    "SNAP-8: a key that is %s is not promoted",
    (state) => {
      expect(promotion(state)).toMatchObject({ kind: "refused", code: "KEY_STATE" });
    },
  );

  test("SNAP-8: a node that has not confirmed it refuses the promotion by name, one that never spoke too", () => {
    const refused = promotion("introduced", { nodes: [behind, ready, never] });
    expect(refused).toMatchObject({ code: "KEY_NOT_CONFIRMED", detail: { count: 2 } });
    expect((refused as { message: string }).message).toMatch(/val-1, val-3$/);
  });

  test("SNAP-8: only nodes that were named are left behind", () => {
    const nodes = [behind, never];
    expect(promotion("introduced", { nodes, abandoned: [behind.id] })).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
      detail: { nodes: [{ name: "val-3" }] },
    });
    expect(promotion("introduced", { nodes, abandoned: [behind.id, never.id] })).toMatchObject({
      kind: "promoted",
    });
  });

  test.each(["root", "release", "publisher"] as const)("SNAP-8: a %s key is never promoted", (authority) => {
    expect(promotion("introduced", { keys: [keyRow(next, authority, "introduced")] })).toMatchObject({
      code: "KEY_STATE",
    });
  });

  test("SNAP-8: a key that nobody knows is not promoted", () => {
    expect(promotion("introduced", { keys: [] })).toMatchObject({ code: "NOT_FOUND" });
  });
});
