/** How each state of a snapshot looks and reads, and what each scope is in a few words. */
import type { SnapshotState } from "../../../core/model/snapshot-state.ts";
import type { ScopeType } from "../../../core/snapshot/scopes.ts";
import type { Look } from "../../ui/tones.ts";

const look = (tone: Look["tone"], icon: Look["icon"], label: string): Look => ({ tone, icon, label });

export const SNAPSHOT_LOOKS: Record<SnapshotState, Look> = {
  in_force: look("good", "check", "In force"),
  behind: look("warn", "progress", "Behind"),
  expiring: look("warn", "pause", "Expiring"),
  expired: look("bad", "cross", "Expired"),
  rejected: look("bad", "alert", "Rejected"),
  refused_by_compiler: look("bad", "dash", "Not compiled"),
  never: look("neutral", "circle", "Not applied yet"),
};

export const SCOPE_WORDS: Record<ScopeType, string> = {
  trust_bundle: "Which keys are believed",
  node_bootstrap: "Membership and first contacts",
  node_runtime: "Services and entry points",
  peer_directory: "Peers it may speak to",
  service_assignment: "Programs it may run",
  route_policy: "Where it may send traffic",
  qos_policy: "How it treats traffic",
  storage_directory: "Storage it may use",
  degraded_mode_policy: "What it may do alone",
};
