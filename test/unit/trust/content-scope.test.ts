// Check 10: nothing beyond the node's roles and organizations, whatever was signed (SNAP-4, SNAP-5).
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { COMPILED_SCOPES, SECTIONS, type CompiledScope } from "../../../src/core/snapshot/roles.ts";
import { NODE_ROLES, type NodeRole } from "../../../src/core/snapshot/scopes.ts";
import { contentWithinGrant, type Grant } from "../../../src/trust/content-scope.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { CONTENTS, ORGANIZATION, OTHER_ORGANIZATION } from "../../support/trust-contents.ts";
import { CLUSTER, contextOf, newKeys, NODE, OTHER_NODE, snapshotFrame } from "../../support/trust.ts";

const keys = newKeys();
type Content = { readonly [section: string]: Json };

interface Wish {
  readonly content?: Content;
  readonly roles?: readonly NodeRole[];
  readonly organizations?: readonly string[];
  readonly node?: { readonly roles?: readonly NodeRole[]; readonly organizationIds?: readonly string[] };
}

/** Signed with `roles` and `organizations` in the header, for a node that has just these unless `node` says otherwise. */
function verdict(scope: CompiledScope, wish: Wish = {}) {
  const { content = CONTENTS[scope], roles = ["core_mesh"], organizations = [ORGANIZATION] } = wish;
  const header = { scope_type: scope, roles: [...roles], organization_ids: [...organizations] };
  const frame = snapshotFrame({ header, content, signers: [keys.online] });
  return verifySnapshot(frame, contextOf(keys, { roles, organizationIds: organizations, ...wish.node }));
}

const table = COMPILED_SCOPES.flatMap((scope) =>
  Object.keys(SECTIONS[scope]).flatMap((section) =>
    NODE_ROLES.map((role) => [role, section, scope] as const),
  ),
).filter(([, , scope]) => scope !== "node_bootstrap");

test.each(table)(
  "SNAP-4: a %s node gets %s of %s exactly when its role may hold it",
  (role, section, scope) => {
    const content = { [section]: CONTENTS[scope][section]! };
    const mayHold = (SECTIONS[scope] as Record<string, readonly string[]>)[section]!.includes(role);
    const refusal = { kind: "rejected", step: 10, code: "SNAPSHOT_SCOPE_EXCEEDED", field: section };
    const result = verdict(scope, { content, roles: [role] });
    if (mayHold) expect(result).toMatchObject({ kind: "accepted", content });
    else expect(result).toMatchObject(refusal);
  },
);

test("a header that names a role which the node does not have is refused, and one that names fewer is not", () => {
  const node = { roles: ["egress_service"] as const };
  const refusal = { step: 10, code: "SNAPSHOT_SCOPE_EXCEEDED", field: "roles" };
  expect(verdict("qos_policy", { roles: ["egress_service", "core_mesh"], node })).toMatchObject(refusal);
  const routes = { content: CONTENTS.route_policy, roles: ["ingress"] as const };
  expect(verdict("route_policy", { ...routes, node: { roles: ["ingress", "thin"] } }).kind).toBe("accepted");
});

test.each(["users", "__proto__", "constructor", "toString"])(
  "no role may hold a section called %s",
  (section) => {
    const content = JSON.parse(`{"assignments":[],"${section}":[]}`) as Content;
    const refusal = { step: 10, code: "SNAPSHOT_SCOPE_EXCEEDED", field: section };
    expect(verdict("service_assignment", { content })).toMatchObject(refusal);
  },
);

test("a node without any role still gets what every role may hold", () => {
  expect(verdict("degraded_mode_policy", { roles: [] }).kind).toBe("accepted");
  expect(verdict("peer_directory", { roles: [] })).toMatchObject({ step: 10, field: "peers" });
});

test("SNAP-5: a header with another organization is refused by a node that is no member", () => {
  const refusal = { step: 10, code: "SNAPSHOT_ORGANIZATION_FOREIGN", field: "organization_ids" };
  expect(verdict("route_policy", { node: { organizationIds: [] } })).toMatchObject(refusal);
  const both = [ORGANIZATION, OTHER_ORGANIZATION];
  expect(verdict("route_policy", { node: { organizationIds: both } }).kind).toBe("accepted");
});

const foreign: [CompiledScope, string, NodeRole][] = [
  ["node_runtime", "content.services.0.organization_id", "egress_service"],
  ["node_runtime", "content.client_entry.0.organization_id", "ingress"],
  ["node_runtime", "content.token_trust.0.organization_id", "ingress"],
  ["node_runtime", "content.sessions.organization_id", "thin"],
  ["node_runtime", "content.service_endpoints.0.organization_id", "ingress"],
  ["route_policy", "content.routes.0.organization_id", "core_mesh"],
  ["qos_policy", "content.classes.0.organization_id", "core_mesh"],
  ["storage_directory", "content.endpoints.0.organization_id", "core_mesh"],
  ["storage_directory", "content.shards.0.organization_id", "storage_config"],
  ["degraded_mode_policy", "content.policy.organization_id", "thin"],
];

test.each(foreign)("SNAP-5: %s with another organization's data at %s is refused", (scope, field, role) => {
  const section = field.split(".")[1]!;
  const content = { [section]: CONTENTS[scope][section]! };
  const wish = { content, roles: [role], node: { organizationIds: [ORGANIZATION, OTHER_ORGANIZATION] } };
  const refusal = { step: 10, code: "SNAPSHOT_ORGANIZATION_FOREIGN", field };
  expect(verdict(scope, { ...wish, organizations: [OTHER_ORGANIZATION] })).toMatchObject(refusal);
  expect(verdict(scope, { ...wish, organizations: [] })).toMatchObject(refusal);
  expect(verdict(scope, wish).kind).toBe("accepted");
});

test("what belongs to no organization is for members of any", () => {
  const content = {
    classes: [{ ...(CONTENTS.qos_policy["classes"] as Content[])[0], organization_id: null }],
  };
  expect(verdict("qos_policy", { content, organizations: [] }).kind).toBe("accepted");
});

test("SNAP-5: token_trust and sessions that an earlier server signed without an organization are read as before", () => {
  const content = {
    token_trust: [{ issuer: "https://id.example", jwks_digest: `sha256:${"0".repeat(64)}` }],
  };
  expect(verdict("node_runtime", { content, roles: ["ingress"], organizations: [] }).kind).toBe("accepted");
  const sessions = { sessions: { session_ttl_ms: 1, tunnels_max: 1 } };
  expect(verdict("node_runtime", { content: sessions, roles: ["thin"], organizations: [] }).kind).toBe(
    "accepted",
  );
});

const bootstrap = CONTENTS.node_bootstrap;
const membership = bootstrap["membership"] as Content;

test("node_bootstrap brings roles and organizations that the node did not have before", () => {
  const node = { roles: [], organizationIds: [] };
  expect(verdict("node_bootstrap", { node }).kind).toBe("accepted");
});

test.each<[string, Content]>([
  ["membership", {}],
  ["membership.node_id", { membership: { ...membership, node_id: OTHER_NODE } }],
  ["membership.roles", { membership: { ...membership, roles: ["core_mesh", "ingress"] } }],
  ["membership.roles", { membership: { ...membership, roles: [] } }],
  ["membership.organization_ids", { membership: { ...membership, organization_ids: [] } }],
  ["membership.organization_ids", { membership: { ...membership, organization_ids: [OTHER_ORGANIZATION] } }],
  ["cluster.cluster_id", { membership, cluster: { cluster_id: OTHER_NODE, name: "x" } }],
])("node_bootstrap whose header and %s differ is refused: case %#", (field, content) => {
  const refusal = { step: 10, code: "SNAPSHOT_SCOPE_EXCEEDED", field };
  expect(verdict("node_bootstrap", { content })).toMatchObject(refusal);
});

test("an ingress node is told no peers to start from", () => {
  const content = { ...bootstrap, membership: { ...membership, roles: ["ingress"] } };
  expect(verdict("node_bootstrap", { content, roles: ["ingress"] })).toMatchObject({
    step: 10,
    field: "bootstrap_peers",
  });
});

const grant = (scope_type: Grant["scope_type"], changes: Partial<Grant> = {}): Grant => ({
  scope_type,
  roles: ["core_mesh", "ingress"],
  organization_ids: [ORGANIZATION],
  subject_node_id: NODE,
  cluster_id: CLUSTER,
  ...changes,
});
const member = { node_id: NODE, roles: ["core_mesh", "ingress"], organization_ids: [ORGANIZATION] };

test.each<[string, Json]>([
  ["null", null],
  ["a text", "users"],
  ["a number", 1],
  ["a list", [1]],
])("a content that is %s is left to check 11", (_, content) => {
  expect(contentWithinGrant(grant("qos_policy"), content)).toBeNull();
});

test("a bootstrap that breaks its schema is left to check 11, and one without a cluster is within its grant", () => {
  const bootstrap = grant("node_bootstrap");
  expect(contentWithinGrant(bootstrap, { membership: { ...member, roles: ["king"] } })).toBeNull();
  expect(contentWithinGrant(bootstrap, { membership: member })).toBeNull();
});

test("a bootstrap without a membership, or with another role or organization, is beyond its grant", () => {
  const failure = (content: Json) => contentWithinGrant(grant("node_bootstrap"), content);
  expect(failure({})).toMatchObject({ field: "membership", reason: "missing" });
  expect(failure({ membership: { ...member, roles: ["core_mesh", "thin"] } })).toMatchObject({
    field: "membership.roles",
  });
  const organization_ids = [OTHER_ORGANIZATION];
  expect(failure({ membership: { ...member, organization_ids } })).toMatchObject({
    field: "membership.organization_ids",
  });
});

test("an entry of no organization is within every grant", () => {
  for (const [section, entries] of Object.entries(CONTENTS.route_policy)) {
    const owned = (entries as Json[]).map((entry) => ({ ...(entry as object), organization_id: null }));
    expect(contentWithinGrant(grant("route_policy"), { [section]: owned })).toBeNull();
  }
});
