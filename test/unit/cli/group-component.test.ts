import { expect, test } from "vitest";
import { plainPaint } from "../../../src/cli/output.ts";
import { componentWatch, NODES_READ_MAX } from "../../../src/cli/watch/component.ts";
import { renderGroup } from "../../../src/cli/watch/group-picture.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import type { Api } from "../../../src/cli/api.ts";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import type { NodeUpgradeView } from "../../../src/core/protocol/operator-api.ts";
import { upgradeSample } from "./samples.ts";
import { componentSample, groupSample } from "./steer-samples.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");
const MINUTE = 60_000;

/** A server that knows these nodes, or is away. */
const serverWith = (nodes: readonly NodeUpgradeView[] | "away"): Api =>
  ({
    get: async () => {
      if (nodes === "away") throw new FairleadError("UNREACHABLE", "connection refused");
      return { nodes, next_cursor: null };
    },
  }) as unknown as Api;

const running = (more: object = {}): GroupView =>
  groupSample({ components: [componentSample(0, "execution", { status: "running", ...more })] });

const failed = { error_code: "HEALTH_CRITICAL", error_message: "the probe is refused" };
const NODES = [
  upgradeSample(1, { status: "failed", ...failed }),
  upgradeSample(2, { status: "failed", ...failed }),
  upgradeSample(3, { status: "in_progress", upgrade_phase: "MUTATING", action_name: "install_artifact" }),
  upgradeSample(4, { status: "pending" }),
];

test("ROLL-11: under the component at work stand its nodes by what they have to tell, alike ones as one line", async () => {
  const at = await componentWatch(serverWith(NODES))(running(), START);
  const lines = renderGroup({ group: running(), at, lost: null }, START, plainPaint, 100).split("\n");
  expect(lines.slice(1, 4)).toEqual([
    "  ▶ 1 execution  1.0.0 → 2.0.0  running  batch 1 of 3  0/5 nodes  time left unknown",
    "      ✗ 2 nodes failed  HEALTH_CRITICAL: the probe is refused",
    "      ▶ node-3 in progress  MUTATING install_artifact",
  ]);
});

test("the time that is left comes from the batches that were seen to end", async () => {
  const read = componentWatch(serverWith([]));
  await read(running({ current_batch: 0 }), START);
  await read(running({ current_batch: 1 }), START + 4 * MINUTE);
  const group = running({ current_batch: 1 });
  const now = START + 5 * MINUTE;
  const at = await read(group, now);
  const [, line] = renderGroup({ group, at, lost: null }, now, plainPaint, 120).split("\n");
  expect(line).toMatch(/time left about 7m( 00s)?$/); // three of this batch's four, and four of the last
});

test("of more nodes than it reads it names the command that shows them, and it draws 24 lines at most", async () => {
  const counters = { ...running().components[0]!.rollout.counters, total: NODES_READ_MAX + 1 };
  const group = running({ counters });
  const at = await componentWatch(serverWith("away"))(group, START);
  expect(renderGroup({ group, at, lost: null }, START, plainPaint, 100)).toContain(
    "its 1001 nodes: fairlead rollout watch 000000c0",
  );

  const many = Array.from({ length: 60 }, (_, n) =>
    upgradeSample(n + 1, { status: "failed", error_code: "TIMEOUT", error_message: `after ${n} s` }),
  );
  const components = Array.from({ length: 32 }, (_, n) =>
    componentSample(n, `part-${n}`, { status: "running" }),
  );
  const why = { code: "COMPONENT_FAILED", text: "t" };
  const crowded = groupSample({ components, current_component: 0, status: "paused", why });
  const seen = await componentWatch(serverWith(many))(crowded, START);
  const lines = renderGroup({ group: crowded, at: seen, lost: "ECONNREFUSED" }, START, plainPaint, 100);
  expect(lines.split("\n").length).toBeLessThan(24);
  expect(lines).toContain("and 56 more nodes");
});

test("while the server is away the nodes of before stand", async () => {
  let nodes: readonly NodeUpgradeView[] | "away" = NODES;
  const api = { get: (path: string, schema: never) => serverWith(nodes).get(path, schema) } as Api;
  const read = componentWatch(api);
  await read(running(), START);
  nodes = "away";
  expect((await read(running(), START + 1))!.nodes).toHaveLength(NODES.length);
});
