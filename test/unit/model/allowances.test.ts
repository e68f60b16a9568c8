import { describe, expect, test } from "vitest";
import { allowances } from "../../../src/core/model/allowances.ts";
import { spanText } from "../../../src/core/model/words.ts";
import { DEGRADED_ACTIONS } from "../../../src/core/degraded/actions.ts";
import { ScopeType } from "../../../src/core/snapshot/scopes.ts";
import {
  bundleOf,
  CLUSTER,
  fingerprint,
  newKeys,
  newSigner,
  NODE,
  PROFILE,
  ROLLOUT,
} from "../../support/trust.ts";

const named = { policy_id: ROLLOUT, name: "night", organization_id: null };
const degraded = {
  ...named,
  allowed: DEGRADED_ACTIONS,
  offline_max_ms: 4 * 3_600_000,
  route_ttl_ms: 90_000,
  session_ttl_ms: 0,
  when_partitioned: "hold",
};

describe("what a snapshot allows, in words (SNAP-19)", () => {
  test("SNAP-19: a program, by its fingerprint, its rollout and the way back", () => {
    const settled = {
      kind: "settled",
      chain_profile_id: PROFILE,
      rollout_id: ROLLOUT,
      intent_digest: null,
      target: fingerprint("v2"),
      rollback: fingerprint("v1"),
    };
    const [target, rollback] = [settled.target, settled.rollback].map((digest) => `${digest.slice(0, 19)}…`);
    expect(allowances("service_assignment", { assignments: [settled] })).toEqual([
      `may run hello@${target} by rollout 44444444, without a signed intent, and may go back to ${rollback}`,
    ]);
    const { rollback: _none, ...rest } = settled;
    const upgrading = { ...rest, kind: "upgrading", current: null, intent_digest: fingerprint("i") };
    expect(allowances("service_assignment", { assignments: [upgrading] })).toEqual([
      `may replace hello@nothing by hello@${target} by rollout 44444444`,
    ]);
  });

  test("SNAP-19: a degraded policy is told by the actions that an agent acts on, and the others are told as such", () => {
    const restarts = "may start again what it last ran, also on authority that has expired";
    const nothingElse = "may do nothing else by itself without its control plane";
    const said = allowances("degraded_mode_policy", { policy: degraded });
    expect(said[0]).toBe(restarts);
    expect(said).toContain("starts no program while its part of the fleet is cut off");
    const names = said.find((line) => line.startsWith("names "))!;
    for (const action of DEGRADED_ACTIONS.filter((each) => each !== "continue_services"))
      expect(names).toContain(action);
    expect(names).toMatch(/, which no agent acts on yet$/);
    expect(said.at(-1)).toBe(nothingElse);
    expect(allowances("degraded_mode_policy", {})).toEqual([restarts, nothingElse]);
  });

  test("SNAP-19: a degraded policy that forbids or bounds restarts says so", () => {
    const [forbidden] = allowances("degraded_mode_policy", { policy: { ...degraded, allowed: [] } });
    expect(forbidden).toBe("may not start its programs again without its control plane; what runs goes on");
    const [bounded] = allowances("degraded_mode_policy", {
      policy: { ...degraded, restart_after_expiry: "never" },
    });
    expect(bounded).toBe("may start again what it last ran, for 4 h without its control plane");
  });

  test("SNAP-19: keys that are believed, and for what", () => {
    const keys = newKeys();
    const said = allowances("trust_bundle", bundleOf(keys, { revoked_keys: [keys.release.record.key_id] }));
    expect(said[0]).toBe("believes trust bundles that 2 of 3 root keys signed");
    expect(said).toContain("runs only what an operator signed an intent for");
    expect(said.join("\n")).toContain(`signed by ${keys.online.record.key_id.slice(0, 8)}, until 2026-`);
    expect(said.join("\n")).toContain(`refuses 1 revoked key: ${keys.release.record.key_id.slice(0, 8)}`);
    expect(allowances("trust_bundle", bundleOf(keys, { intents_required: false })).join("\n")).toContain(
      "intents are not required",
    );
  });

  test("SNAP-19: a publisher key is said to be named, and not to be believed for anything", () => {
    const keys = newKeys();
    const [release] = bundleOf(keys).release_keys;
    const publisher = { ...release!, ...newSigner().record, name: "builds" };
    const said = allowances("trust_bundle", bundleOf(keys, { publisher_keys: [publisher] })).join("\n");
    expect(said).toMatch(/names the publisher key builds for .*: no signature of it is asked for yet/);
    expect(said).not.toMatch(/believes.*builds/);
  });

  test("SNAP-19: the other scopes, each in its own words", () => {
    const peer = { node_id: NODE, address: "edge-1:7000", roles: ["thin"] };
    const service = { service_id: ROLLOUT, name: "web", organization_id: null, chain_profile_id: PROFILE };
    const refs = { resources: ["resource:db"], connectors: [], secret_refs: ["secret://vault/db"] };
    const cases: [ScopeType, object, string][] = [
      [
        "node_bootstrap",
        { cluster: { cluster_id: CLUSTER, name: "site-a" } },
        "belongs to the cluster site-a (11111111)",
      ],
      [
        "node_bootstrap",
        { membership: { node_id: NODE, roles: ["thin"], organization_ids: [] } },
        "is a member of no organizations",
      ],
      [
        "node_runtime",
        { services: [{ ...service, ...refs }] },
        "serves web by hello with resource:db, secret://vault/db",
      ],
      [
        "node_runtime",
        { sessions: { session_ttl_ms: 60_000, tunnels_max: 1 } },
        "keeps 1 tunnel at most, each session for 1 min",
      ],
      ["peer_directory", { peers: [peer] }, "may speak to the peer 22222222 at edge-1:7000 (thin)"],
      [
        "route_policy",
        { routes: [{ ...named, destinations: ["10.0.0.0/8"], via: "mesh", ttl_ms: 1_000 }] },
        "may send to 10.0.0.0/8 by way of mesh, for 1 s at a time (policy night)",
      ],
      [
        "route_policy",
        { routes: [{ ...named, destinations: ["10.0.0.0/8"], via: "drop", ttl_ms: 0 }] },
        "drops what goes to 10.0.0.0/8, for no time at a time (policy night)",
      ],
      [
        "qos_policy",
        { classes: [{ ...named, class: "bulk", rate_kbit_max: 9 }] },
        "treats traffic of night as bulk, at 9 kbit/s at most",
      ],
      [
        "storage_directory",
        { endpoints: [{ endpoint_id: NODE, name: "s1", organization_id: null, url: "https://s1.example" }] },
        "may use the storage endpoint s1 at https://s1.example",
      ],
    ];
    for (const [scope, content, words] of cases) expect(allowances(scope, content as never)).toContain(words);
  });

  test("SNAP-19: nothing is said to be nothing, and a content from the future is not guessed at", () => {
    for (const scope of ["route_policy", "node_runtime", "peer_directory"] as const)
      expect(allowances(scope, {})).toEqual(["allows nothing"]);
    for (const scope of ScopeType.options)
      expect(allowances(scope, { novelty: true })[0]).toContain("not understood here");
  });

  test("SNAP-19: a long list ends, and says how much is left out", () => {
    const peers = Array.from({ length: 11 }, (_, at) => ({
      node_id: NODE,
      address: `edge-${at}:1`,
      roles: [],
    }));
    const said = allowances("peer_directory", { peers });
    expect([said.length, said.at(-1)]).toEqual([9, "and 3 more of the kind peer"]);
  });

  test.each([
    [0, "no time"],
    [500, "500 ms"],
    [90_000, "1 min 30 s"],
    [4 * 3_600_000, "4 h"],
    [7 * 86_400_000 + 3_600_000, "7 d 1 h"],
  ])("%i ms is %s", (ms, words) => {
    expect(spanText(ms)).toBe(words);
  });
});
