// A page of revocations is believed by the digest that a signed head names (SNAP-10).
import { expect, test } from "vitest";
import { REVOCATIONS_PER_PAGE, type Revocation } from "../../../src/core/snapshot/revocation.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { openPage, sealPage } from "../../../src/trust/revocation-page.ts";
import { OTHER_NODE } from "../../support/trust.ts";

const revoked: Revocation[] = [
  { kind: "peer", id: OTHER_NODE },
  { kind: "role_assignment", id: "ingress" },
];

test("SNAP-10: a page opens under its own digest and no other", () => {
  const { digest, bytes } = sealPage(revoked);
  expect(openPage(digest, bytes)).toEqual(revoked);
  expect(openPage(sealPage(revoked.slice(1)).digest, bytes)).toBeNull();
});

test("a page is the canonical JSON of kinds and ids, without anything else that a row holds", () => {
  const rows = revoked.map((each) => ({ ...each, revoked_at: "2026-01-15T12:00:00.000Z" }));
  expect(sealPage(rows).bytes).toEqual(canonicalBytes(revoked));
  expect(sealPage(rows).digest).toBe(digestOf(canonicalBytes(revoked)));
});

test.each([
  ["is empty", []],
  ["names an unknown kind", [{ kind: "user", id: "ann" }]],
  ["is longer than a page", Array.from({ length: REVOCATIONS_PER_PAGE + 1 }, () => revoked[0]!)],
])("a page under its digest that %s is refused", (_, page) => {
  const bytes = canonicalBytes(page);
  expect(openPage(digestOf(bytes), bytes)).toBeNull();
});
