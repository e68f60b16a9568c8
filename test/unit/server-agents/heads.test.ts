// Which heads may lack a revocation that was being committed while they were signed.

import { expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import { mayLackRevocation } from "../../../src/server/agents/heads.ts";

const NODE = NodeId.parse("00000000-0000-4000-8000-000000000001");
const REVOKED_AT = 1_000_000;
const time = { newestAt: (id: NodeId) => (id === NODE ? REVOKED_AT : -Infinity) };

test.each([
  ["before it", -1, true],
  ["a moment after it was dated", 1, true],
  ["within the time that a transaction may take", 14_999, true],
  ["later than any transaction takes", 15_001, false],
])("SNAP-10: a head that was signed %s may lack it: %s", (_when, after, lacks) => {
  expect(mayLackRevocation({ nodeId: NODE, headIssuedAt: REVOKED_AT + after }, time)).toBe(lacks);
});

test("SNAP-10: a node without a head lacks it, and one for which nothing was revoked lacks nothing", () => {
  expect(mayLackRevocation({ nodeId: NODE, headIssuedAt: null }, time)).toBe(true);
  const other = NodeId.parse("00000000-0000-4000-8000-000000000002");
  expect(mayLackRevocation({ nodeId: other, headIssuedAt: null }, time)).toBe(false);
});
