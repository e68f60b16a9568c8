import { describe, expect, test } from "vitest";
import { explainText, type Active } from "../../../src/cli/snapshot/explain.ts";
import { differenceLines } from "../../../src/cli/snapshot/difference.ts";
import { fleetTable, scopeTable } from "../../../src/cli/snapshot/text.ts";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import { KeyId } from "../../../src/core/ids.ts";
import { SNAPSHOT_STATES } from "../../../src/core/model/snapshot-state.ts";
import type { NodeSnapshots, ScopeView, SnapshotDetail } from "../../../src/core/protocol/snapshot-api.ts";
import { at, fingerprint, HOUR_MS, NODE, NOW } from "../../support/trust-names.ts";

const published = {
  epoch: 1,
  version: 3,
  content_hash: fingerprint("c"),
  issued_at: at(NOW),
  refresh_after: at(NOW + 84 * HOUR_MS),
  expires_at: at(NOW + 168 * HOUR_MS),
  signer_key_id: KeyId.parse("ab".repeat(32)),
  bytes: 812,
};
const view = (over: Partial<ScopeView> = {}): ScopeView => ({
  scope: "route_policy",
  state: "in_force",
  published,
  applied: { epoch: 1, version: 3 },
  applied_expires_at: published.expires_at,
  rejection: null,
  refusal: null,
  ...over,
});
const node = (...snapshots: ScopeView[]): NodeSnapshots => ({
  node_id: NODE,
  node_name: "edge-1",
  roles: ["egress_service"],
  organizations: ["acme"],
  last_heartbeat_at: at(NOW - 4_000),
  snapshots,
});
const held = (scope: ScopeView["scope"], content: SnapshotDetail["content"] = {}): Active =>
  new Map([[scope, { header: published, content } as unknown as SnapshotDetail]]);

describe("snapshot explain (SNAP-19)", () => {
  test("SNAP-19: says what is active, what it allows, when it expires and is renewed", () => {
    const policy = {
      policy_id: NODE,
      name: "night",
      organization_id: null,
      allowed: ["continue_services"],
      offline_max_ms: 4 * HOUR_MS,
      route_ttl_ms: 0,
      session_ttl_ms: 0,
      when_partitioned: "continue",
    };
    const said = explainText(
      node(view({ scope: "degraded_mode_policy" })),
      held("degraded_mode_policy", { policy }),
      [],
      NOW,
    );
    expect(said).toContain("node edge-1 (22222222-2222-4222-8222-222222222222), heard 4s ago");
    expect(said).toContain("roles egress_service; organizations acme");
    expect(said).toContain("degraded_mode_policy: in force, version 3 (epoch 1)");
    expect(said).toContain("  may start again what it last ran, also on authority that has expired");
    expect(said).toContain(
      `  expires in 7 d (${published.expires_at}); a newer one is made from ${published.refresh_after} on`,
    );
  });

  test("SNAP-19: for a rejected one the check's number and name, the field, the reason and what to do", () => {
    const rejection = {
      code: "SNAPSHOT_SIGNATURE_INVALID",
      reason: "0 valid signatures\u001b[31m",
      at: at(NOW),
      step: 5,
      check: "the signatures verify",
      field: "signature",
      version: { epoch: 1, version: 3 },
      remedy: ERROR_CODES.SNAPSHOT_SIGNATURE_INVALID.next,
    };
    const rejected = view({ state: "rejected", applied: { epoch: 1, version: 2 }, rejection });
    const said = explainText(node(rejected), new Map(), [], NOW);
    expect(said).toContain(
      'REJECTED version 3 (epoch 1) at check 5 of 12, "the signatures verify": SNAPSHOT_SIGNATURE_INVALID',
    );
    expect(said).toContain("field: signature");
    expect(said).toContain("reason: 0 valid signatures\u{fffd}[31m");
    expect(said).toContain(`what to do: ${ERROR_CODES.SNAPSHOT_SIGNATURE_INVALID.next}`);
    expect(said).toContain("version 2 (epoch 1) stays in force meanwhile");
    expect(explainText(node(view({ rejection })), new Map(), [], NOW)).not.toContain("REJECTED");
  });

  test("SNAP-19: what the compiler refused, what waits, and a server that forgot are told apart", () => {
    const refusal = { code: "SNAPSHOT_TOO_LARGE", reason: "5 MB", field: null, at: at(NOW), remedy: "less" };
    expect(explainText(node(view({ state: "refused_by_compiler", refusal })), new Map(), [], NOW)).toContain(
      "NOT COMPILED: SNAPSHOT_TOO_LARGE",
    );
    const behind = (version: number) =>
      explainText(node(view({ state: "behind", applied: { epoch: 1, version } })), new Map(), [], NOW);
    expect(behind(2)).toContain("BEHIND: version 3 (epoch 1) was published");
    expect(behind(9)).toContain("run `fairlead authority new-epoch`");
    const never = view({ state: "never", applied: null, published: null });
    expect(explainText(node(never), new Map(), [], NOW)).toContain("nothing was published for it yet");
  });
});

test("SNAP-19: explain tells what was taken back from the node, and how it comes back", () => {
  const revocation = {
    seq: 7,
    kind: "degraded_permission" as const,
    subject: "continue_services",
    subject_name: null,
    node_id: null,
    node_name: null,
    reason: "a look",
    actor: "key:boss",
    created_at: at(NOW),
  };
  expect(explainText(node(), new Map(), [revocation], NOW)).toContain(
    "degraded_permission continue_services from every node: a look; given back by `fairlead revocation lift 7`",
  );
});

test.each(["artifact", "run"] as const)(
  "SNAP-19: explain says of a revoked %s that it is neither upgraded to nor started again",
  (kind) => {
    const revocation = {
      seq: 9,
      kind,
      subject: fingerprint("v2"),
      subject_name: null,
      node_id: node().node_id,
      node_name: "edge-1",
      reason: "it corrupts",
      actor: "key:boss",
      created_at: at(NOW),
    };
    expect(explainText(node(), new Map(), [revocation], NOW)).toContain(
      `${kind} ${fingerprint("v2")}: it corrupts; the node takes no command for it and does not start it again; given back by`,
    );
  },
);

test("SNAP-20: explain says of a revoked node that its requests are refused, and how the machine comes back", () => {
  const revocation = {
    seq: 8,
    kind: "node_identity" as const,
    subject: node().node_id,
    subject_name: "edge-1",
    node_id: null,
    node_name: null,
    reason: "disk stolen",
    actor: "key:boss",
    created_at: at(NOW),
  };
  const said = explainText(node(), new Map(), [revocation], NOW);
  expect(said).toContain(
    "node_identity edge-1: disk stolen; every request of this node is refused; a new token",
  );
  expect(said).not.toContain("revocation lift");
});

describe("snapshot list and diff (USE-2)", () => {
  test("USE-2: one line a scope, and one line a node with what to look at", () => {
    expect(scopeTable(node(view()), NOW)).toMatch(
      /route_policy +in force +3 \(epoch 1\) +3 \(epoch 1\) +in 7 d +812 +abababababab$/,
    );
    const counts = Object.fromEntries(
      SNAPSHOT_STATES.map((state) => [state, state === "rejected" ? 1 : 2]),
    ) as never;
    const attention = [
      {
        scope: "route_policy" as const,
        state: "rejected" as const,
        code: "SNAPSHOT_ROLLBACK",
        expires_at: null,
      },
    ];
    const fleet = [{ node_id: NODE, node_name: "edge-1", last_heartbeat_at: null, counts, attention }];
    expect(fleetTable(fleet, NOW)).toMatch(/edge-1 +2 +2 +3 +4 +never +route_policy SNAPSHOT_ROLLBACK$/);
  });

  test("USE-2: a difference names the thing that changed, not its place in a list", () => {
    const route = (name: string, ttl: number) => ({ name, ttl });
    const before = { routes: [route("a", 1), route("b", 2)], words: ["x", "y"] };
    const after = { routes: [route("0", 5), route("a", 1), route("b", 3)], words: ["y", "z"] };
    expect(differenceLines(before, after)).toEqual([
      '+ routes.[0].name: "0"',
      "+ routes.[0].ttl: 5",
      "- routes.[b].ttl: 2",
      "+ routes.[b].ttl: 3",
      '- words.[x]: "x"',
      '+ words.[z]: "z"',
    ]);
    expect(differenceLines(before, before)).toEqual([]);
    expect(differenceLines({}, 1)).toEqual(["- (whole): {}", "+ (whole): 1"]);
  });
});
