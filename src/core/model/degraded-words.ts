/** What a degraded_mode_policy lets a node do alone, in words. */
import type { DegradedAction } from "../degraded/actions.ts";
import type { DegradedBody } from "../snapshot/contents.ts";
import { spanText } from "./words.ts";

const ACTION_WORDS: Readonly<Record<DegradedAction, (policy: DegradedBody) => string>> = {
  continue_services: () => "continue services",
  preserve_routes: ({ route_ttl_ms }) => `keep its routes, each for ${spanText(route_ttl_ms)} at most`,
  reconnect_peers: () => "reconnect to the peers it knows",
  validate_peers: () => "check its peers against the trust bundle it holds",
  use_storage_endpoints: () => "use the storage endpoints it knows",
  report_status: () => "note what happens, to report it later",
};

export function degradedWords(policy: DegradedBody | null): string[] {
  if (policy === null || policy.allowed.length === 0)
    return ["may do nothing by itself without its control plane"];
  const alone = `for ${spanText(policy.offline_max_ms)} without its control plane`;
  return [
    ...policy.allowed.map((action) => `may ${ACTION_WORDS[action](policy)} ${alone}`),
    `keeps a session for ${spanText(policy.session_ttl_ms)} at most`,
    policy.when_partitioned === "continue"
      ? "goes on with what runs when its part of the fleet is cut off"
      : "keeps still when its part of the fleet is cut off",
  ];
}
