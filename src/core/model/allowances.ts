/** What a snapshot allows its node, in words, scope by scope (SNAP-19): from the content that was signed, and nothing else. */
import type { z } from "zod";
import type { Json } from "../json.ts";
import {
  DegradedPolicyContent,
  NodeBootstrapContent,
  NodeRuntimeContent,
  PeerDirectoryContent,
  QosPolicyContent,
  RoutePolicyContent,
  StorageDirectoryContent,
} from "../snapshot/contents.ts";
import type { ScopeType } from "../snapshot/scopes.ts";
import { ServiceAssignmentContent, type Assignment } from "../snapshot/service-assignment.ts";
import { TrustBundle } from "../snapshot/trust-bundle.ts";
import { degradedWords } from "./degraded-words.ts";
import { count, few, list, short, shortDigest, spanText } from "./words.ts";

type Words = (content: Json) => string[] | null;

const said =
  <T>(schema: z.ZodType<T>, words: (content: T) => string[]): Words =>
  (content) => {
    const parsed = schema.safeParse(content);
    return parsed.success ? words(parsed.data) : null;
  };

const WORDS: Readonly<Record<ScopeType, Words>> = {
  trust_bundle: said(TrustBundle, bundleWords),
  node_bootstrap: said(NodeBootstrapContent, bootstrapWords),
  node_runtime: said(NodeRuntimeContent, runtimeWords),
  peer_directory: said(PeerDirectoryContent, ({ peers = [] }) =>
    few(
      peers.map(
        ({ node_id, address, roles }) =>
          `may speak to the peer ${short(node_id)} at ${address} (${list(roles)})`,
      ),
      "peer",
    ),
  ),
  service_assignment: said(ServiceAssignmentContent, ({ assignments }) =>
    few(assignments.map(assignmentWords), "program"),
  ),
  route_policy: said(RoutePolicyContent, ({ routes = [] }) =>
    few(
      routes.map(({ name, destinations, via, ttl_ms }) => {
        const where = few(destinations, "network").join(", ");
        const how = via === "drop" ? `drops what goes to ${where}` : `may send to ${where} by way of ${via}`;
        return `${how}, for ${spanText(ttl_ms)} at a time (policy ${name})`;
      }),
      "route",
    ),
  ),
  qos_policy: said(QosPolicyContent, ({ classes = [] }) =>
    few(
      classes.map(({ name, class: kind, rate_kbit_max }) => {
        const rate = rate_kbit_max === null ? "without a limit" : `at ${rate_kbit_max} kbit/s at most`;
        return `treats traffic of ${name} as ${kind}, ${rate}`;
      }),
      "class",
    ),
  ),
  storage_directory: said(StorageDirectoryContent, ({ endpoints = [], shards = [], families = [] }) => [
    ...few(
      endpoints.map(({ name, url }) => `may use the storage endpoint ${name} at ${url}`),
      "endpoint",
    ),
    ...few(
      shards.map(({ shard, replicas }) => `keeps the shard ${shard} in ${count(replicas, "copy", "copies")}`),
      "shard",
    ),
    ...(families.length === 0 ? [] : [`may hand out snapshots of ${list(families)}`]),
  ]),
  degraded_mode_policy: said(DegradedPolicyContent, ({ policy }) => degradedWords(policy ?? null)),
};

export function allowances(scope: ScopeType, content: Json): string[] {
  const words = WORDS[scope](content);
  if (words === null)
    return ["its content is not understood here: this program is older than the one that signed it"];
  return words.length === 0 ? ["allows nothing"] : words;
}

function assignmentWords(assignment: Assignment): string {
  const { chain_profile_id: profile, rollout_id, intent_digest, target } = assignment;
  const by = `by rollout ${short(rollout_id)}${intent_digest === null ? ", without a signed intent" : ""}`;
  if (assignment.kind === "upgrading") {
    const from = assignment.current === null ? "nothing" : shortDigest(assignment.current);
    return `may replace ${profile}@${from} by ${profile}@${shortDigest(target)} ${by}`;
  }
  const back = assignment.rollback === null ? "" : `, and may go back to ${shortDigest(assignment.rollback)}`;
  return `may run ${profile}@${shortDigest(target)} ${by}${back}`;
}

function bundleWords(bundle: TrustBundle): string[] {
  const { root, online_keys, release_keys, publisher_keys, revoked_keys } = bundle;
  const until = (at: string) => `until ${at.slice(0, 10)}`;
  return [
    `believes trust bundles that ${root.threshold} of ${count(root.keys.length, "root key", "root keys")} signed`,
    ...online_keys.map(
      (key) =>
        `believes snapshots and commands signed by ${short(key.key_id)}, ${until(key.valid_until)}: ${list(key.scopes)}`,
    ),
    ...release_keys.map(
      (key) =>
        `believes intents signed by ${key.name} for ${profilesOf(key.profiles)}, ${until(key.valid_until)}`,
    ),
    ...publisher_keys.map(
      (key) =>
        `names the publisher key ${key.name} for ${profilesOf(key.profiles)}, ${until(key.valid_until)}: no signature of it is asked for yet`,
    ),
    bundle.intents_required
      ? "runs only what an operator signed an intent for"
      : "runs what the control plane alone decides: intents are not required",
    ...(revoked_keys.length === 0
      ? []
      : [
          `refuses ${count(revoked_keys.length, "revoked key", "revoked keys")}: ${list(revoked_keys.map(short))}`,
        ]),
    ...(bundle.demo ? ["is for demonstrations: believed on this machine only"] : []),
  ];
}

const profilesOf = (profiles: readonly string[]): string =>
  profiles.length === 0 ? "every profile" : list(profiles);

function bootstrapWords({
  cluster,
  membership,
  refresh_endpoints = [],
  bootstrap_peers = [],
}: NodeBootstrapContent): string[] {
  return [
    ...(cluster === undefined
      ? []
      : [`belongs to the cluster ${cluster.name} (${short(cluster.cluster_id)})`]),
    ...(membership === undefined
      ? []
      : [
          `has the roles ${list(membership.roles)}`,
          `is a member of ${count(membership.organization_ids.length, "organization", "organizations")}`,
        ]),
    ...(refresh_endpoints.length === 0 ? [] : [`asks for newer snapshots at ${list(refresh_endpoints)}`]),
    ...few(
      bootstrap_peers.map(
        ({ node_id, address }) => `may ask the peer ${short(node_id)} at ${address} for a way back`,
      ),
      "peer",
    ),
  ];
}

function runtimeWords(content: z.infer<typeof NodeRuntimeContent>): string[] {
  const { services = [], client_entry = [], token_trust = [], service_endpoints = [], sessions } = content;
  return [
    ...few(
      services.map(({ name, chain_profile_id, resources, connectors, secret_refs }) => {
        const needs = [...resources, ...connectors, ...secret_refs];
        const with_ = needs.length === 0 ? "" : ` with ${few(needs, "reference").join(", ")}`;
        return `serves ${name}${chain_profile_id === null ? "" : ` by ${chain_profile_id}`}${with_}`;
      }),
      "service",
    ),
    ...few(
      client_entry.map(
        ({ name, cidrs }) => `lets clients of ${name} in from ${few(cidrs, "network").join(", ")}`,
      ),
      "entry",
    ),
    ...few(
      token_trust.map(({ issuer }) => `accepts clients' tokens of ${issuer}`),
      "issuer",
    ),
    ...few(
      service_endpoints.map(
        ({ service_id, address }) => `sends clients of service ${short(service_id)} to ${address}`,
      ),
      "endpoint",
    ),
    ...(sessions === undefined
      ? []
      : [
          `keeps ${count(sessions.tunnels_max, "tunnel", "tunnels")} at most, each session for ${spanText(sessions.session_ttl_ms)}`,
        ]),
  ];
}
