/** Failures that may pass by themselves (ROLL-30): an origin or a control plane out of reach, a busy engine, a suspended agent. */
import { FairleadError } from "../../core/errors.ts";
import type { ActionName } from "../../core/upgrade/phases.ts";

/** A definite answer of the origin, such as 404, is none of them; these ask to come again. */
const COME_AGAIN: readonly number[] = [408, 425, 429];

export function mayPass(error: unknown, action: ActionName): boolean {
  if (!(error instanceof FairleadError)) return false;
  switch (error.code) {
    case "RUNTIME_UNRESPONSIVE":
      return true;
    case "ARTIFACT_UNREACHABLE":
    case "UNREACHABLE":
    case "TIMEOUT":
      return !isDefinite(error.detail?.["status"]);
    case "ACTION_TIMEOUT":
      return action === "acquire_artifact"; // a machine that was suspended finds its time over when it wakes
    default:
      return false;
  }
}

const isDefinite = (status: unknown): boolean =>
  typeof status === "number" && status >= 300 && status < 500 && !COME_AGAIN.includes(status);
