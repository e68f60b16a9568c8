// A poll's answer fits what an agent reads, as a whole, and nothing that waits is lost by that.
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { PollResponse } from "../../../src/core/protocol/agent-api.ts";
import { COMPILED_SCOPES, type CompiledScope } from "../../../src/core/snapshot/roles.ts";
import { putTogether } from "../../../src/server/agents/answer.ts";
import type { SnapshotRow } from "../../../src/server/agents/snapshot-rows.ts";

const row = (
  scope: CompiledScope,
  bytes: number,
  handed: SnapshotRow["handed"] = "full",
  made: string[] = [],
): SnapshotRow => ({
  scope,
  epoch: 1,
  version: 1,
  contentHash: "sha256:00" as SnapshotRow["contentHash"],
  handed,
  frame() {
    made.push(scope);
    return Buffer.alloc(bytes, scope);
  },
});

const TAIL = {
  head: "head",
  commands: [{ command: "command", intent: null, proof: [] }],
  void_intents: ["v"],
};
const NOTHING = { head: null, commands: [], void_intents: [] };
const sizeOf = (answer: PollResponse): number => JSON.stringify(answer).length;
const scopeOf = (frame: string): string =>
  COMPILED_SCOPES.find((scope) => Buffer.from(frame, "base64").toString("latin1").startsWith(scope)) ??
  "bundle";

test("SNAP-13: what fits comes at once, the bundle and the bootstrap first, with head and commands", () => {
  const rows = [
    row("degraded_mode_policy", 100),
    row("node_bootstrap", 100),
    row("qos_policy", 50, "increment"),
  ];
  const { answer, isCut } = putTogether(rows, ["AAAA"], TAIL);
  expect(answer!.snapshots.map(scopeOf)).toEqual(["bundle", "node_bootstrap", "degraded_mode_policy"]);
  expect([answer!.increments.length, isCut]).toEqual([1, false]);
  expect(answer).toMatchObject(TAIL);
});

test("SNAP-13: with nothing to hand over there is no answer, and a tail alone is one", () => {
  expect(putTogether([], [], NOTHING)).toEqual({ answer: null, isCut: false });
  expect(putTogether([row("qos_policy", 9, "nothing")], [], NOTHING).answer).toBeNull();
  expect(putTogether([], [], TAIL).answer).toMatchObject(TAIL);
});

test("SNAP-13: every scope at its largest comes in several answers within the bound, the head and commands with the last", () => {
  let waiting = COMPILED_SCOPES.map((scope, at) =>
    row(scope, LIMITS.snapshotContentBytesMax, at % 3 === 2 ? "increment" : "full"),
  );
  const seen: string[] = [];
  for (let polls = 0; ; polls++) {
    const { answer, isCut } = putTogether(waiting, [], TAIL);
    expect(sizeOf(answer!)).toBeLessThanOrEqual(LIMITS.pollAnswerBytesMax);
    const came = [...answer!.snapshots, ...answer!.increments].map(scopeOf);
    seen.push(...came);
    waiting = waiting.filter(({ scope }) => !came.includes(scope));
    if (!isCut) {
      expect(answer).toMatchObject(TAIL);
      expect(polls).toBeGreaterThan(0);
      break;
    }
    expect(came.length).toBeGreaterThan(0);
    expect(answer).toMatchObject(NOTHING);
  }
  expect(seen.toSorted()).toEqual([...COMPILED_SCOPES].toSorted());
  expect(seen[0]).toBe("node_bootstrap");
});

test("SNAP-13: frames that fill the answer leave the tail to the next one", () => {
  const rows = [row("node_bootstrap", 300), row("qos_policy", 300)];
  const whole = putTogether(rows, [], TAIL, 1024 + 2 * 403 + 200);
  expect([whole.isCut, whole.answer!.head]).toEqual([false, "head"]);
  const cut = putTogether(rows, [], TAIL, 1024 + 2 * 403 + 10);
  expect([cut.isCut, cut.answer!.snapshots.length, cut.answer!.head]).toEqual([true, 2, null]);
});

test("SNAP-13: a first frame comes even where it alone is beyond the bound, and those behind the cut are not made", () => {
  const made: string[] = [];
  const rows = [
    row("node_bootstrap", 5000, "full", made),
    row("qos_policy", 10, "full", made),
    row("route_policy", 10, "full", made),
  ];
  const { answer, isCut } = putTogether(rows, [], TAIL, 2048);
  expect([answer!.snapshots.length, isCut, made]).toEqual([1, true, ["node_bootstrap"]]);
});
