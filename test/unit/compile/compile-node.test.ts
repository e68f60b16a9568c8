import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileNode } from "../../../src/core/compile/compile-node.ts";
import { BOOTSTRAP_PEERS } from "../../../src/core/compile/peers.ts";
import type { NodeState, PolicyRow } from "../../../src/core/compile/rows.ts";
import { viewOf } from "../../../src/core/compile/shared-view.ts";
import type { Json } from "../../../src/core/json.ts";
import { COMPILED_SCOPES, mayHold } from "../../../src/core/snapshot/roles.ts";
import { ScopeType } from "../../../src/core/snapshot/scopes.ts";
import { canonicalJson } from "../../../src/trust/canonical-json.ts";
import { contentWithinGrant } from "../../../src/trust/content-scope.ts";
import { sealContent } from "../../../src/trust/sealed-content.ts";
import { anyState, ORGANIZATIONS, shuffled } from "./states.ts";

const forEvery = (check: (state: NodeState, turn: number) => void): void =>
  fc.assert(
    fc.property(anyState, fc.nat({ max: 20 }), (state, turn) => {
      check(state, turn);
    }),
    { numRuns: 300 },
  );

const text = (state: NodeState): string =>
  COMPILED_SCOPES.map((scope) => canonicalJson(compileNode(state, scope))).join("\n");

describe("whatever the model holds", () => {
  test("SNAP-4: no node gets a section beyond its roles", () => {
    forEvery((state) => {
      for (const scope of COMPILED_SCOPES) {
        const content = compileNode(state, scope) as { readonly [section: string]: Json };
        for (const section of Object.keys(content))
          expect(mayHold(scope, section, state.node.roles)).toBe(true);
      }
    });
  });

  test("SNAP-5: no node reads the id of an organization that it is no member of", () => {
    forEvery((state) => {
      const compiled = text(state);
      for (const id of ORGANIZATIONS) {
        if (!state.node.organizationIds.includes(id)) expect(compiled).not.toContain(id);
      }
    });
  });

  test("SNAP-3: the order of the rows makes no difference to a single byte", () => {
    forEvery((state, turn) => expect(text(shuffled(state, turn))).toBe(text(state)));
  });

  test("SNAP-3: every content can be sealed, and a node takes it within what its header grants", () => {
    forEvery((state) => {
      for (const scope of COMPILED_SCOPES) {
        const content = compileNode(state, scope);
        expect(sealContent(scope, content).bytes.length).toBeGreaterThan(0);
        const grant = {
          scope_type: scope,
          roles: [...state.node.roles],
          organization_ids: [...state.node.organizationIds],
          subject_node_id: state.node.id,
          cluster_id: state.cluster.clusterId,
        };
        expect(contentWithinGrant(grant, content)).toBeNull();
      }
    });
  });

  test("SNAP-10: what was revoked is nowhere in it", () => {
    forEvery((state) => {
      const compiled = text(state);
      for (const { kind, id } of state.revoked) {
        if (kind === "peer") expect(compiled).not.toContain(`"node_id":"${id}","roles"`);
        if (kind === "storage_endpoint") expect(compiled).not.toContain(`"endpoint_id":"${id}"`);
        if (kind === "degraded_permission") expect(compiled).not.toContain(`"${id}"`);
        if (kind === "service_assignment") expect(compiled).not.toContain('"kind":"settled"');
      }
    });
  });

  test("SNAP-3: nodes with the same view have the same content", () => {
    forEvery((state) => {
      const twin = { ...state, node: { ...state.node, id: "ffffffff-0000-4000-8000-000000000000" as never } };
      for (const scope of COMPILED_SCOPES) {
        if (viewOf(state, scope) === null) continue;
        expect(viewOf(twin, scope)).toBe(viewOf(state, scope));
        expect(compileNode(twin, scope)).toEqual(compileNode(state, scope));
      }
    });
  });
});

test("SNAP-5: token_trust and sessions carry the organization of their policy", () => {
  const ALL = { roles: ["ingress", "thin"] as const, organizationIds: ORGANIZATIONS };
  forEvery((state) => {
    const own = { ...state, node: { ...state.node, ...ALL } };
    const { token_trust = [], sessions } = compileNode(own, "node_runtime") as {
      readonly token_trust?: readonly { readonly organization_id?: string }[];
      readonly sessions?: { readonly organization_id?: string };
    };
    const owners = own.cluster.policies
      .filter(({ kind, roles }) => kind === "token_trust" && (roles.length === 0 || roles.some(isOwn)))
      .map(({ organizationId }) => organizationId ?? "site");
    const named = token_trust.map((each) => each.organization_id ?? "site");
    expect(named.toSorted()).toEqual(owners.toSorted());
    if (sessions === undefined) return;
    const candidates = own.cluster.policies.filter(({ kind }) => kind === "sessions");
    expect(candidates.map(({ organizationId }) => organizationId)).toContain(
      sessions.organization_id ?? null,
    );
  });
});

test("SNAP-5: token_trust and sessions of no organization are signed without the field, as older agents read them", () => {
  const policy = { id: "0", name: "all", organizationId: null, roles: [] };
  const digest = `sha256:${"0".repeat(64)}`;
  forEvery((state) => {
    const policies: PolicyRow[] = [
      { ...policy, kind: "token_trust", body: { issuer: "https://id.example", jwks_digest: digest } },
      { ...policy, kind: "sessions", body: { session_ttl_ms: 1, tunnels_max: 4 } },
    ];
    const roles = ["ingress", "thin"] as const;
    const own = { node: { ...state.node, roles }, cluster: { ...state.cluster, policies }, revoked: [] };
    const content = compileNode({ ...state, ...own }, "node_runtime") as Record<string, Json>;
    expect(content["token_trust"]).toEqual([{ issuer: "https://id.example", jwks_digest: digest }]);
    expect(content["sessions"]).toEqual({ session_ttl_ms: 1, tunnels_max: 4 });
  });
});
const isOwn = (role: string): boolean => role === "ingress" || role === "thin";

test("SNAP-4: a storage node is allowed the families of the shards that it keeps, and none without a shard", () => {
  forEvery((state) => {
    const own = { ...state, revoked: [], node: { ...state.node, roles: ["storage_config"] as const } };
    const { families } = compileNode(own, "storage_directory") as { readonly families: readonly string[] };
    const kept = own.cluster.storageEndpoints.filter(
      ({ shard, organizationId }) =>
        shard !== null && (organizationId === null || own.node.organizationIds.includes(organizationId)),
    );
    const allowed = (family: string): boolean =>
      kept.some((each) => each.families.length === 0 || each.families.some((named) => named === family));
    expect(families).toEqual(ScopeType.options.filter(allowed).toSorted());
  });
});

describe("the topology that a node may know", () => {
  const compiled = (state: NodeState, change: Partial<NodeState["node"]>) =>
    compileNode({ ...state, node: { ...state.node, ...change } }, "peer_directory") as {
      readonly peers?: readonly { readonly node_id: string }[];
    };

  test("SNAP-4: ingress, egress and thin nodes know of no peers", () => {
    forEvery((state) =>
      expect(compiled(state, { roles: ["ingress", "egress_service", "thin"] })).toEqual({}),
    );
  });

  test("SNAP-4: a storage node knows storage and core nodes, a core node those and its organizations'", () => {
    forEvery((state) => {
      const rows = new Map(state.cluster.peers.map((peer) => [peer.id as string, peer]));
      for (const { node_id } of compiled(state, { roles: ["storage_config"] }).peers!)
        expect(
          rows.get(node_id)!.roles.some((role) => role === "storage_config" || role === "core_mesh"),
        ).toBe(true);
      for (const { node_id } of compiled(state, { roles: ["core_mesh"] }).peers!) {
        const { roles, organizationIds } = rows.get(node_id)!;
        const isShared = organizationIds.some((id) => state.node.organizationIds.includes(id));
        expect(roles.includes("core_mesh") || isShared).toBe(true);
      }
    });
  });

  test("SNAP-4: it begins with at most three core peers, never itself, and a far change leaves them", () => {
    forEvery((state) => {
      const content = compileNode(
        { ...state, node: { ...state.node, roles: ["thin"] } },
        "node_bootstrap",
      ) as {
        readonly bootstrap_peers: readonly { readonly node_id: string; readonly roles: readonly string[] }[];
      };
      const { bootstrap_peers: peers } = content;
      expect(peers.length).toBeLessThanOrEqual(BOOTSTRAP_PEERS);
      expect(peers.every((peer) => peer.roles.includes("core_mesh"))).toBe(true);
      expect(peers.map((peer) => peer.node_id)).not.toContain(state.node.id);
      const chosen = state.cluster.peers.filter((peer) => peers.some(({ node_id }) => node_id === peer.id));
      const fewer = { ...state, cluster: { ...state.cluster, peers: chosen } };
      expect(compileNode({ ...fewer, node: { ...state.node, roles: ["thin"] } }, "node_bootstrap")).toEqual(
        content,
      );
    });
  });
});
