// What the compiler refuses before anything is signed, and the schemas of all nine scopes (SNAP-2, SNAP-3, SNAP-5).
import { expect, test } from "vitest";
import { SnapshotId } from "../../../src/core/ids.ts";
import type { Json } from "../../../src/core/json.ts";
import { COMPILED_SCOPES } from "../../../src/core/snapshot/roles.ts";
import { ScopeType } from "../../../src/core/snapshot/scopes.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { isSealed, sealContent } from "../../../src/trust/sealed-content.ts";
import { signSnapshot, signSnapshotHeaders, type SnapshotDraft } from "../../../src/trust/snapshot.ts";
import { CONTENTS, ORGANIZATION } from "../../support/trust-contents.ts";
import { codeOf, refusalOf } from "../../support/refusals.ts";
import { bundleOf, CLUSTER, HOUR_MS, newKeys, NODE, NOW } from "../../support/trust.ts";

const keys = newKeys();
const seal = (scope: ScopeType, content: Json) => codeOf(() => sealContent(scope, content));
const contentOf = (scope: ScopeType): Json => (scope === "trust_bundle" ? bundleOf(keys) : CONTENTS[scope]);

test.each(ScopeType.options)("SNAP-3: the same %s content has the same bytes and hash", (scope) => {
  const sealed = sealContent(scope, contentOf(scope));
  expect(sealed.bytes).toEqual(canonicalBytes(contentOf(scope)));
  expect(sealed.content_hash).toBe(digestOf(sealed.bytes));
  expect(sealContent(scope, structuredClone(contentOf(scope)))).toEqual(sealed);
});

test.each(COMPILED_SCOPES)("SNAP-2: %s takes any of its sections alone, and no other's", (scope) => {
  for (const [section, value] of Object.entries(CONTENTS[scope]))
    expect(seal(scope, { [section]: value })).toBe("accepted");
  expect(seal(scope, { ...CONTENTS[scope], users: ["ann"] })).toBe("SNAPSHOT_CONTENT_INVALID");
  expect(seal(scope, [])).toBe("SNAPSHOT_CONTENT_INVALID");
});

const [service] = CONTENTS.node_runtime["services"] as { readonly [key: string]: Json }[];
const services = (changes: { [key: string]: Json }): Json => ({ services: [{ ...service, ...changes }] });

test.each<[string, Json]>([
  ["a secret in place of a reference to it", services({ secret_refs: ["hunter2"] })],
  ["a reference that carries a password", services({ secret_refs: ["secret://ann:pw@vault/x"] })],
  ["a reference of another kind", services({ resources: ["select * from users"] })],
  ["an organization that is no id", services({ organization_id: "acme" })],
  ["a field more", services({ password: "x" })],
  ["words where there is no room for them", services({ description: "x".repeat(201) })],
])("SNAP-5: every string has a type: %s is refused", (_, content) => {
  expect(seal("node_runtime", content)).toBe("SNAPSHOT_CONTENT_INVALID");
});

test("SNAP-5: a secret in a description is found before it is signed, and the refusal says where", () => {
  const content = services({ description: "login ann, password = hunter2" });
  expect(seal("node_runtime", content)).toBe("SNAPSHOT_SECRET_FOUND");
  expect(() => sealContent("node_runtime", content)).toThrow("content.services.0.description");
});

test("SNAP-3: content over its bound is a compile error", () => {
  const destinations = Array.from({ length: 1000 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
  const [route] = CONTENTS.route_policy["routes"] as { readonly [key: string]: Json }[];
  const routes = (count: number): Json => ({
    routes: Array.from({ length: count }, () => ({ ...route, destinations })),
  });
  expect(seal("route_policy", routes(2))).toBe("accepted");
  expect(seal("route_policy", routes(400))).toBe("SNAPSHOT_TOO_LARGE");
});

const draft: SnapshotDraft = {
  snapshotId: SnapshotId.parse("55555555-5555-4555-8555-555555555555"),
  clusterId: CLUSTER,
  subject: NODE,
  scope: "qos_policy",
  roles: ["core_mesh"],
  organizationIds: [ORGANIZATION],
  scopeIds: ["plain"],
  version: 1,
  epoch: 1,
  issuedAt: NOW,
  lifetimeMs: HOUR_MS,
  content: CONTENTS.qos_policy,
};

test("sealed content and plain content are signed as the same bytes", () => {
  const sealed = sealContent("qos_policy", CONTENTS.qos_policy);
  const [plain, twice] = [
    signSnapshot(draft, [keys.online]),
    signSnapshot({ ...draft, content: sealed }, [keys.online]),
  ];
  expect(twice).toEqual(plain);
  expect(plain.header).toMatchObject({ organization_ids: [ORGANIZATION], scope_ids: ["plain"] });
});

test("what cannot be sealed is not signed", () => {
  const spoiled = { ...draft, content: { classes: "all" } };
  expect(codeOf(() => signSnapshot(spoiled, [keys.online]))).toBe("SNAPSHOT_CONTENT_INVALID");
});

test("co-signers are named in the header; root keys sign without that", () => {
  const named = signSnapshot(draft, [keys.online, keys.release]);
  expect(named.header.co_signer_key_ids).toEqual([keys.release.record.key_id]);
  expect(signSnapshot(draft, [keys.online]).header).not.toHaveProperty("co_signer_key_ids");
  const bundle = { ...draft, scope: "trust_bundle", content: bundleOf(keys) } as const;
  const signed = signSnapshot(bundle, [keys.roots[0], keys.roots[1]]);
  expect(signed.header).not.toHaveProperty("co_signer_key_ids");
  expect(decodeFrame(signed.frame).signatures).toHaveLength(2);
});

test("a refused content is named by its scope, and by the field, the path or the size that is at fault", () => {
  const detailOf = (content: Json) => refusalOf(() => sealContent("peer_directory", content)).detail;
  expect(detailOf({ users: [] })).toEqual({ scope: "peer_directory", field: "content" });
  const address = `${["AKIA", "IOSFODNN7EXAMPLE"].join("")}:1`;
  const peer = { ...(CONTENTS.peer_directory["peers"] as object[])[0], address };
  expect(detailOf({ peers: [peer] })).toEqual({ scope: "peer_directory", path: "content.peers.0.address" });
});

test.each<[string, Json]>([
  ["null", null],
  ["a text", "bytes"],
  ["an object without bytes", {}],
  ["an object whose bytes are a text", { bytes: "x" }],
])("%s is not sealed", (_, content) => {
  expect(isSealed(content)).toBe(false);
});

test("a sealed content is sealed", () => {
  expect(isSealed(sealContent("peer_directory", CONTENTS.peer_directory))).toBe(true);
});

test("a snapshot is refreshed after half of its life, and is about nothing unless its draft says so", () => {
  const draft: SnapshotDraft = {
    snapshotId: SnapshotId.parse("55555555-5555-4555-8555-555555555555"),
    clusterId: CLUSTER,
    subject: NODE,
    scope: "service_assignment",
    roles: [],
    version: 1,
    epoch: 1,
    issuedAt: NOW,
    lifetimeMs: 2 * HOUR_MS,
    content: { assignments: [] },
  };
  const { header, frame } = signSnapshot(draft, [keys.online]);
  expect(header).toMatchObject({ refresh_after: new Date(NOW + HOUR_MS).toISOString(), scope_ids: [] });
  const bytes = decodeFrame(frame).header;
  expect(signSnapshotHeaders([bytes], [keys.online])).toEqual([
    canonicalBytes(decodeFrame(frame).signatures),
  ]);
});
