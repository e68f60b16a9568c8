/** Snapshots of nodes, for people. */
import type { NodeAuthority, NodeSnapshots, ScopeView } from "../../core/protocol/snapshot-api.ts";
import { spanText } from "../../core/model/words.ts";
import { ageOf } from "../duration.ts";
import { table } from "../output.ts";

export const STATE_WORDS: Readonly<Record<ScopeView["state"], string>> = {
  in_force: "in force",
  behind: "behind",
  expired: "expired",
  expiring: "expiring",
  rejected: "rejected",
  refused_by_compiler: "not compiled",
  never: "not applied yet",
};

const seen = (at: string | null, now: number): string => (at === null ? "never" : `${ageOf(at, now)} ago`);

export function fleetTable(nodes: readonly NodeAuthority[], now: number): string {
  if (nodes.length === 0) return "";
  return table(
    ["NODE", "IN FORCE", "BEHIND", "REJECTED", "EXPIRING", "SEEN", "LOOK AT"],
    nodes.map(({ node_name, counts, attention, last_heartbeat_at }) => [
      node_name,
      String(counts.in_force),
      String(counts.behind),
      String(counts.rejected + counts.refused_by_compiler),
      String(counts.expiring + counts.expired),
      seen(last_heartbeat_at, now),
      attention.length === 0
        ? "-"
        : attention.map(({ scope, state, code }) => `${scope} ${code ?? STATE_WORDS[state]}`).join(", "),
    ]),
  );
}

export function scopeTable({ snapshots }: NodeSnapshots, now: number): string {
  return table(
    ["SCOPE", "STATE", "PUBLISHED", "APPLIED", "EXPIRES", "BYTES", "SIGNER"],
    snapshots.map(({ scope, state, published, applied }) => [
      scope,
      STATE_WORDS[state],
      versionText(published),
      versionText(applied),
      published === null ? "-" : untilText(published.expires_at, now),
      published === null ? "-" : String(published.bytes),
      published === null ? "-" : published.signer_key_id.slice(0, 12),
    ]),
  );
}

export const versionText = (at: { readonly epoch: number; readonly version: number } | null): string =>
  at === null ? "-" : `${at.version} (epoch ${at.epoch})`;

export function untilText(at: string, now: number): string {
  const left = Date.parse(at) - now;
  return left > 0 ? `in ${spanText(left)}` : `${spanText(-left)} ago`;
}
