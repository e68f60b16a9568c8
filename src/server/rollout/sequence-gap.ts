/**
 * A database that was restored has forgotten commands that nodes hold: the next one would be a replay to them (SNAP-16).
 * A new epoch, which only the root keys open, leaves a gap in every node's sequence (ADR 18). No node's word is needed.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Transaction } from "../db/database.ts";

export const leaveSequenceGap = async (tx: Transaction): Promise<void> =>
  void (await tx`update nodes set command_sequence = command_sequence + ${LIMITS.commandSequenceGap}`);
