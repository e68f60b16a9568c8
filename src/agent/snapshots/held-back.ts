/**
 * What does not arrive (SNAP-17): a node that is kept from newer snapshots finds it out and says so.
 *
 * 1. The head names a newer version than the active one, still after another poll: somebody in between holds it back.
 *    What was handed over and refused has its own rejection, and that one stays.
 * 2. A snapshot past its `refresh_after` should have been replaced by now, once the control plane has answered for
 *    `reconnectGraceMs` without a break: one that was away itself holds nothing back, and signs again on its return.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Rejection } from "../../core/protocol/agent-api.ts";
import { isNewer, type SnapshotVersion } from "../../core/snapshot/envelope.ts";
import { ScopeType } from "../../core/snapshot/scopes.ts";
import type { StoreCore } from "./core.ts";
import { isHeldBack, noteRejection } from "./rejections.ts";
import { scopeIn } from "./state.ts";

export type Polled = "answered" | "unanswered";

/** After each poll. Answers with what is new to tell. */
export async function lookForHeldBack(core: StoreCore, polled: Polled): Promise<Rejection[]> {
  const found: Rejection[] = [];
  core.answeringSince = polled === "unanswered" ? null : (core.answeringSince ?? core.clock.monotonic());
  for (const scope of ScopeType.options) {
    const before = scopeIn(core.state(), scope).rejection;
    const rejection = (await newerExists(core, scope)) ?? (await overdue(core, scope));
    if (rejection !== null && rejection !== before) found.push(rejection);
  }
  return found;
}

async function newerExists(core: StoreCore, scope: ScopeType): Promise<Rejection | null> {
  const named = core.head?.content.scopes[scope];
  const active = core.held.get(scope)?.version ?? scopeIn(core.state(), scope).active;
  if (named === undefined || (active !== null && !isNewer(named, active))) {
    core.behind.delete(scope);
    return null;
  }
  const sinceLastPoll = core.behind.has(scope);
  core.behind.set(scope, named);
  if (!sinceLastPoll || wasRefused(scopeIn(core.state(), scope).rejection, named)) return null;
  const has = active === null ? "none" : `version ${active.version}`;
  const reason = `the head names version ${named.version} of epoch ${named.epoch}; ${has} is active here`;
  return heldBack(core, scope, named, "config_version", reason); // (1)
}

const heldBack = (
  core: StoreCore,
  scope: ScopeType,
  { epoch, version }: SnapshotVersion,
  field: string,
  reason: string,
): Promise<Rejection> =>
  noteRejection(core, { code: "SNAPSHOT_HELD_BACK", field, reason, scope, version: { epoch, version } });

function wasRefused(rejection: Rejection | null, named: SnapshotVersion): boolean {
  if (rejection === null || isHeldBack(rejection) || rejection.version === undefined) return false;
  return !isNewer(named, rejection.version);
}

async function overdue(core: StoreCore, scope: ScopeType): Promise<Rejection | null> {
  const { active } = scopeIn(core.state(), scope);
  const answersForMs = core.answeringSince === null ? -1 : core.clock.monotonic() - core.answeringSince;
  if (answersForMs < LIMITS.reconnectGraceMs) return null; // (2)
  if (active === null || Date.parse(active.refresh_after) > core.time().effective) return null;
  const reason = `version ${active.version} should have been refreshed by ${active.refresh_after}`;
  return heldBack(core, scope, active, "refresh_after", reason);
}
