import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { namedReplicas } from "../../../src/agent/link/named-replicas.ts";

const namedIn = (content: Json | null) =>
  namedReplicas({ content: (scope) => (scope === "node_bootstrap" ? content : null) });

test("replicas are those that the signed bootstrap names, in its order", () => {
  const refresh_endpoints = ["https://b.example:7443", "https://a.example:7443"];
  expect(namedIn({ refresh_endpoints })).toEqual(refresh_endpoints);
});

test.each<[string, Json | null]>([
  ["without a bootstrap", null],
  ["in a bootstrap without addresses", {}],
  ["in a content that is no bootstrap", { refresh_endpoints: "https://a.example" }],
])("no replica is named %s", (_, content) => {
  expect(namedIn(content)).toEqual([]);
});
