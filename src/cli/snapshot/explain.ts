/**
 * SNAP-19 in words: what is active on a node and what it allows, until when, and for what was refused the check, the
 * field, the reason and what to do.
 */
import { allowances } from "../../core/model/allowances.ts";
import { list } from "../../core/model/words.ts";
import type { RevocationView } from "../../core/protocol/model-api.ts";
import type { NodeSnapshots, ScopeView, SnapshotDetail } from "../../core/protocol/snapshot-api.ts";
import { ageOf } from "../duration.ts";
import { printable } from "../output.ts";
import { STATE_WORDS, untilText, versionText } from "./text.ts";

/** The snapshot that the node has active; null where its version is no longer kept, or it has none. */
export type Active = ReadonlyMap<ScopeView["scope"], SnapshotDetail>;

export interface Explanation {
  readonly scope: ScopeView["scope"];
  readonly state: ScopeView["state"];
  readonly allows: readonly string[];
  readonly expires_at: string | null;
  readonly refresh_after: string | null;
  readonly rejection: ScopeView["rejection"];
  readonly refusal: ScopeView["refusal"];
}

export const explanations = ({ snapshots }: NodeSnapshots, active: Active): Explanation[] =>
  snapshots.map(({ scope, state, rejection, refusal }) => {
    const held = active.get(scope);
    return {
      scope,
      state,
      allows: held === undefined ? [] : allowances(scope, held.content),
      expires_at: held?.header.expires_at ?? null,
      refresh_after: held?.header.refresh_after ?? null,
      rejection: state === "rejected" ? rejection : null,
      refusal,
    };
  });

export function explainText(
  node: NodeSnapshots,
  active: Active,
  revoked: readonly RevocationView[],
  now: number,
): string {
  const heard =
    node.last_heartbeat_at === null
      ? "not heard from yet"
      : `heard ${ageOf(node.last_heartbeat_at, now)} ago`;
  const head = [
    `node ${node.node_name} (${node.node_id}), ${heard}`,
    `roles ${list(node.roles)}; organizations ${list(node.organizations)}`,
  ];
  const words = explanations(node, active);
  const parts = node.snapshots.map((view, at) => scopeText(view, words[at]!, active.get(view.scope), now));
  const taken = revoked.length === 0 ? [] : [["taken back:", ...revoked.map(revokedLine)].join("\n  ")];
  return [head.join("\n"), ...parts, ...taken]
    .map((part) =>
      part
        .split("\n")
        .map((line) => printable(line))
        .join("\n"),
    )
    .join("\n\n");
}

function revokedLine(revocation: RevocationView): string {
  const { kind, subject, subject_name, node_id, reason, seq } = revocation;
  const whom = node_id === null ? " from every node" : "";
  const why = reason === null ? "" : `: ${reason}`;
  return `${kind} ${subject_name ?? subject}${kind === "node_identity" ? "" : whom}${why}${remedyOf(kind, seq)}`;
}

function remedyOf(kind: RevocationView["kind"], seq: number): string {
  if (kind === "signing_key") return "";
  if (kind === "node_identity")
    return "; every request of this node is refused; a new token enrolls the machine as a new node";
  const effect =
    kind === "artifact" || kind === "run"
      ? "; the node takes no command for it and does not start it again"
      : "";
  return `${effect}; given back by \`fairlead revocation lift ${seq}\``;
}

function scopeText(
  view: ScopeView,
  words: Explanation,
  held: SnapshotDetail | undefined,
  now: number,
): string {
  const { scope, applied, state } = view;
  const version = applied === null ? "" : `, version ${versionText(applied)}`;
  return [
    `${scope}: ${STATE_WORDS[state]}${version}`,
    ...words.allows,
    ...timeLines(view, held, now),
    ...whyLines(view),
  ].join("\n  ");
}

function timeLines(
  { scope, applied, published }: ScopeView,
  held: SnapshotDetail | undefined,
  now: number,
): string[] {
  if (held !== undefined) {
    const { expires_at, refresh_after } = held.header;
    const next =
      scope === "trust_bundle"
        ? `renew it with \`fairlead root renew\` after ${refresh_after}`
        : `a newer one is made from ${refresh_after} on`;
    return [`expires ${untilText(expires_at, now)} (${expires_at}); ${next}`];
  }
  if (applied !== null) return ["what that version allowed is no longer kept here"];
  return published === null ? ["nothing was published for it yet"] : [];
}

function whyLines({ state, rejection, refusal, published, applied }: ScopeView): string[] {
  if (state === "rejected" && rejection !== null) {
    const { step, check, field, reason, remedy, code, version } = rejection;
    const which = step === null ? "" : ` at check ${step} of 12, "${check ?? "unknown"}"`;
    return [
      `REJECTED version ${versionText(version ?? published)}${which}: ${code}`,
      ...(field === null ? [] : [`field: ${field}`]),
      `reason: ${reason}`,
      ...(remedy === null ? [] : [`what to do: ${remedy}`]),
      applied === null
        ? "nothing is in force in its place"
        : `version ${versionText(applied)} stays in force meanwhile`,
    ];
  }
  if (refusal !== null) {
    const where = refusal.field === null ? "" : ` at ${refusal.field}`;
    return [
      `NOT COMPILED${where}: ${refusal.code}`,
      `reason: ${refusal.reason}`,
      ...(refusal.remedy === null ? [] : [`what to do: ${refusal.remedy}`]),
    ];
  }
  return behindLines(state, published, applied);
}

function behindLines(
  state: ScopeView["state"],
  published: ScopeView["published"],
  applied: ScopeView["applied"],
): string[] {
  if (state !== "behind" || published === null || applied === null) return [];
  const ahead =
    applied.epoch > published.epoch ||
    (applied.epoch === published.epoch && applied.version > published.version);
  if (ahead)
    return [
      `BEHIND: the control plane has only version ${versionText(published)}`,
      "what to do: if its database was restored from a backup, run `fairlead authority new-epoch`",
    ];
  return [
    `BEHIND: version ${versionText(published)} was published and the node has not said that it applied it`,
    "what to do: look at its next heartbeat; if it stays, at what lies between the node and its control plane",
  ];
}
