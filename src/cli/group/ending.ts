/** How a group's state becomes an exit code: as a rollout's does, and what is partial is not done. */
import { EXIT } from "../../core/error-codes.ts";
import { isGroupActive, type GroupStatus } from "../../core/group/states.ts";
import { exitOfStatus } from "../rollout/ending.ts";

export const groupEnded = (status: GroupStatus): boolean => !isGroupActive(status);

export const exitOfGroup = (status: GroupStatus): number =>
  status === "partial" ? EXIT.failed : exitOfStatus(status);
