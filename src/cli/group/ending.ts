/** How a group's state becomes an exit code, for `wait` and `watch` alike. */
import { EXIT } from "../../core/error-codes.ts";
import { unreachable } from "../../core/errors.ts";
import { isGroupActive, type GroupStatus } from "../../core/group/states.ts";

export const groupEnded = (status: GroupStatus): boolean => !isGroupActive(status);

export function exitOfGroup(status: GroupStatus): number {
  switch (status) {
    case "completed":
      return EXIT.ok;
    case "paused":
      return EXIT.paused;
    case "partial":
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
