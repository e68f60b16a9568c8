/** How a rollout's state becomes an exit code, for `wait` and `watch` alike. */
import { EXIT } from "../../core/error-codes.ts";
import { unreachable } from "../../core/errors.ts";
import { isActive, type RolloutStatus } from "../../core/rollout/states.ts";

export const hasEnded = (status: RolloutStatus): boolean => !isActive(status);

export function exitOfStatus(status: RolloutStatus): number {
  switch (status) {
    case "completed":
      return EXIT.ok;
    case "paused":
      return EXIT.paused;
    case "failed":
    case "cancelled":
    case "rolled_back":
    case "pending":
    case "running":
    case "rolling_back":
      return EXIT.failed;
    default:
      return unreachable(status);
  }
}
