/** What a degraded_mode_policy lets a node do alone, in words: exactly what the gate lets the agent do, and no more. */
import { ACTED_ON, type DegradedAction } from "../degraded/actions.ts";
import type { DegradedBody } from "../snapshot/contents.ts";
import { list, spanText } from "./words.ts";

const RESTARTS = "may start again what it last ran, also on authority that has expired";

export function degradedWords(policy: DegradedBody | null): string[] {
  if (policy === null) return [RESTARTS, "may do nothing else by itself without its control plane"];
  const isActedOn = (action: DegradedAction) => ACTED_ON.includes(action);
  const others = policy.allowed.filter((action) => !isActedOn(action));
  return [
    ...restartWords(policy),
    ...(others.length === 0 ? [] : [`names ${list(others)}, which no agent acts on yet`]),
    "may do nothing else by itself without its control plane",
  ];
}

function restartWords({
  allowed,
  offline_max_ms,
  restart_after_expiry,
  when_partitioned,
}: DegradedBody): string[] {
  if (!allowed.includes("continue_services"))
    return ["may not start its programs again without its control plane; what runs goes on"];
  const bounded = `may start again what it last ran, for ${spanText(offline_max_ms)} without its control plane`;
  return [
    restart_after_expiry === "never" ? bounded : RESTARTS,
    ...(when_partitioned === "hold" ? ["starts no program while its part of the fleet is cut off"] : []),
  ];
}
