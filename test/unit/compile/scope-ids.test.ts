// What an envelope says its snapshot is about.
import { expect, test } from "vitest";
import { SCOPE_IDS_MAX, scopeIdsOf } from "../../../src/core/snapshot/scope-ids.ts";
import { COMPILED_SCOPES } from "../../../src/core/snapshot/roles.ts";
import { SCOPES, type ScopeType } from "../../../src/core/snapshot/scopes.ts";
import { sealContent } from "../../../src/trust/sealed-content.ts";
import { CONTENTS } from "../../support/trust-contents.ts";
import { bundleOf, newKeys } from "../../support/trust.ts";

test.each(COMPILED_SCOPES)(
  "SNAP-1: the envelope of %s names the objects that its content is about",
  (scope) => {
    const content = CONTENTS[scope];
    const ids = sealContent(scope, content).scope_ids!;
    expect(ids.length).toBeGreaterThan(0);
    for (const id of ids) expect(JSON.stringify(content)).toContain(JSON.stringify(id));
    expect(ids).toEqual([...new Set(ids)].toSorted());
  },
);

test("SNAP-1: a content without objects, and a trust bundle, name none", () => {
  for (const scope of Object.keys(SCOPES) as ScopeType[]) expect(scopeIdsOf(scope, {})).toEqual([]);
  expect(scopeIdsOf("trust_bundle", bundleOf(newKeys()))).toEqual([]);
});

test("SNAP-1: as many objects as the envelope has room for are named, and beyond that the scope is meant as a whole", () => {
  const routes = (count: number) => ({
    routes: Array.from({ length: count }, (_, n) => ({ policy_id: String(100 - n) })),
  });
  expect(scopeIdsOf("route_policy", routes(SCOPE_IDS_MAX))).toHaveLength(SCOPE_IDS_MAX);
  expect(scopeIdsOf("route_policy", routes(3))).toEqual(["100", "98", "99"]);
  expect(scopeIdsOf("route_policy", routes(SCOPE_IDS_MAX + 1))).toEqual([]);
});
