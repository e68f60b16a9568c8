/**
 * Retries of failed nodes (ROLL-11).
 *
 * 1. A retried node is launched in its own batch, batch after batch: neither a batch's size nor its limit per label grows.
 * 2. A retry that fails again counts like any failure: over the threshold it stops the batches after it.
 * 3. In a rollout that its own gates paused, retries run and the rollout stays paused. A pause that somebody asked for
 *    holds them until the resume.
 * 4. The reason of the pause follows the retries, and is computed anew when the last of them is over.
 */
import type { Draft } from "./draft.ts";
import { LIMITS } from "../limits.ts";
import { failuresHold, holdBefore, waitForOthers } from "./holds.ts";
import type { NextBatch } from "./rows.ts";

/** Pauses of an operator, of the group, or of a restored site. */
const HELD_BY_SOMEBODY = ["PAUSED", "SITE_RESTORED"];
const RETRYING = "RETRYING";

/** A retry was asked for: the reason of the pause says so. */
export function noteRetry(draft: Draft): void {
  const { rollout } = draft;
  if (rollout.status !== "paused" || rollout.why === null) return;
  const waiting = `${draft.waitingRetries()} failed nodes`;
  if (HELD_BY_SOMEBODY.includes(rollout.why.code)) {
    const [text] = rollout.why.text.split(";");
    rollout.why = { ...rollout.why, text: `${text}; ${waiting} wait for their retry` }; // (3)
    return;
  }
  rollout.why = { code: RETRYING, text: `${waiting} are retried, batch by batch` }; // (4)
  rollout.acknowledgedFailures = draft.failures(); // whoever retries has seen the other failures
}

/** The batch whose retries may be launched beside its nodes at work; null: none. */
export function retriesOfBatch(draft: Draft, now: number): NextBatch | null {
  const { rollout, retries } = draft;
  const isOn = rollout.status === "running" || isRetrying(draft);
  if (!isOn || retries?.index !== rollout.currentBatch || !draft.mayLaunch(now)) return null;
  const held = holdBefore(draft, retries, "retried", now) ?? waitForOthers(draft, retries, "retried");
  return held === null ? retries : null;
}

/** Between two batches of retries in a paused rollout. */
export function goOnRetrying(draft: Draft, now: number): void {
  const { rollout, retries, next } = draft;
  if (!isRetrying(draft) || isOnlyNoted(draft)) return;
  const held =
    retries === null
      ? (failuresHold(draft, "all") ?? holdBefore(draft, next, "pending", now))
      : (failuresHold(draft, "fresh") ?? holdBefore(draft, retries, "retried", now)); // (2)
  if (held !== null) rollout.why = held; // (4)
  else if (retries !== null && waitForOthers(draft, retries, "retried") !== null)
    draft.lookAgainAt(now + LIMITS.othersRecheckMs);
  else if (retries !== null) draft.openBatch(retries, "retried"); // (1)
  else rollout.why = { code: "RETRIED", text: "the retried nodes are well: resume, cancel or roll back" };
}

/** The step that notes a retry has not loaded its nodes: the next step launches them. */
export const isOnlyNoted = (draft: Draft): boolean => draft.waitingRetries() > 0 && draft.retries === null;

const isRetrying = ({ rollout }: Draft): boolean =>
  rollout.status === "paused" && rollout.why?.code === RETRYING;
