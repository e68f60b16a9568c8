/** How a group reads its components. */
import { isActive } from "../rollout/states.ts";
import type { ComponentRow } from "./rows.ts";

/** Stopped by itself in a way that the group's policy decides about. */
const FAILING = ["THRESHOLD_EXCEEDED", "CANARY_FAILED"];

export const hasEnded = ({ status }: ComponentRow): boolean => !isActive(status);

export const hasFailed = ({ status, why }: ComponentRow): boolean =>
  status === "failed" ||
  status === "cancelled" ||
  status === "rolled_back" ||
  (status === "paused" && FAILING.includes(why?.code ?? ""));

/** Paused because its group asked for it, or with its group by a restore: its group's resume is its own. */
const WITH_ITS_GROUP = ["PAUSED", "SITE_RESTORED"];
export const isPausedByGroup = ({ status, why }: ComponentRow): boolean =>
  status === "paused" && WITH_ITS_GROUP.includes(why?.code ?? "");

/**
 * Some of its nodes were touched, and it may go back. A cancelled component with unknown nodes goes back too: their late
 * verdicts settle against a rollout that is to be undone. After a rollback only nodes that were found on the new version
 * since are a reason for another one.
 */
export const canGoBack = ({ status, onTarget, onNew, unknown, rollbackAllowed }: ComponentRow): boolean => {
  if (!rollbackAllowed || status === "pending") return false;
  if (status === "rolled_back") return onTarget > 0;
  return status !== "cancelled" || onNew > 0 || unknown > 0;
};

/** Counted from one, as people do and every picture of a group does. */
export const nameOf = ({ index, name }: ComponentRow): string => `component ${index + 1} (${name})`;
