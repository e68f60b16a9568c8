import { expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import { checkGroupComponents, checkGroupShape } from "../../../src/core/group/creation-rules.ts";

const good = {
  failure_policy: "rollback_all",
  desired_versions: { beacon: "2.0.0", edge: "3.1.0" },
  component_order: [
    { component_index: 0, binary_name: "beacon" },
    { component_index: 1, binary_name: "edge" },
  ],
};
const facts = [
  { binaryName: "beacon", targetVersion: "2.0.0" },
  { binaryName: "edge", targetVersion: "3.1.0" },
];
const [beacon, edge] = good.component_order;

function broken(check: () => unknown): unknown {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return [error.code, error.detail?.["rule"]];
  }
}

test("a group with its policy, its versions and a component for each breaks no rule (ROLL-3)", () => {
  expect(checkGroupShape(good)).toBe("rollback_all");
  expect(broken(() => checkGroupComponents(good, facts))).toBeNull();
});

test.each<[number, string, string, object]>([
  [
    8,
    "GROUP_ORDER_INVALID",
    "an index twice",
    { component_order: [beacon, { ...edge, component_index: 0 }] },
  ],
  [
    8,
    "GROUP_ORDER_INVALID",
    "an index left out",
    { component_order: [beacon, { ...edge, component_index: 2 }] },
  ],
  [8, "GROUP_ORDER_INVALID", "an order of its own", { component_order: [edge, beacon] }],
  [9, "GROUP_POLICY_REQUIRED", "no policy", { failure_policy: "" }],
  [9, "GROUP_POLICY_REQUIRED", "an unknown policy", { failure_policy: "hope" }],
  [9, "GROUP_VERSIONS_REQUIRED", "no desired versions", { desired_versions: {} }],
  [9, "GROUP_ORDER_INCOMPLETE", "a version without a component", { component_order: [beacon] }],
  [9, "GROUP_ORDER_INCOMPLETE", "no components", { component_order: [] }],
])("rule %i answers %s for %s (ROLL-3)", (rule, code, _, changes) => {
  expect(broken(() => checkGroupShape({ ...good, ...changes }))).toEqual([code, rule]);
});

test.each<[number, string, string, object]>([
  [8, "GROUP_ORDER_INVALID", "a component for another binary than its manifest", { binaryName: "egde" }],
  [9, "GROUP_ORDER_INCOMPLETE", "a component that leads elsewhere", { targetVersion: "3.0.0" }],
])("rule %i answers %s for %s (ROLL-3)", (rule, code, _, change) => {
  expect(broken(() => checkGroupComponents(good, [facts[0]!, { ...facts[1]!, ...change }]))).toEqual([
    code,
    rule,
  ]);
});

test("rule 9 answers GROUP_ORDER_INCOMPLETE for a component that nobody desires (ROLL-3)", () => {
  const group = { ...good, desired_versions: { beacon: "2.0.0" } };
  expect(broken(() => checkGroupComponents(group, facts))).toEqual(["GROUP_ORDER_INCOMPLETE", 9]);
});
