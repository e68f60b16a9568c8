/**
 * Rows against machines: each node has ended in one state, and its machine is what that state says.
 *
 * 1. A row that says where its machine stands is right.
 * 2. A row does not know where its machine is only if the machine cannot say it: it is broken, gone for good, runs what
 *    no row names, or belongs to a later rollout. Where it then is follows from what it did with its last command.
 */
import { unreachable } from "../../src/core/errors.ts";
import { isGivenUp } from "../../src/core/rollout/late.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import type { Machine } from "./machine.ts";
import { holds } from "./violation.ts";

type Standing = "previous" | "target" | "broken" | "elsewhere";

export function checkMachine(node: NodeRow, machine: Machine): void {
  const rule = "every node ends in the state of its machine";
  const standing = standingOf(node, machine);
  const row = `${node.nodeId} is ${node.status} (${node.stands ?? "untouched"}, ${node.errorCode ?? "no error"})`;
  holds(expectedOf(node, machine).includes(standing), rule, `${row} and its machine ${standing}`);
  holds(node.facts.nodeState !== "maintenance", rule, `${row} in maintenance`);
  const isLost = isGivenUp(node) && node.assigned && machine.hasSent(node.commandId!);
  holds(!isLost, "no verdict is lost", `${row} and its machine had answered`);
}

function standingOf({ previous, target }: NodeRow, machine: Machine): Standing {
  const installed = machine.installed();
  if (installed === "broken") return "broken";
  if (installed === target) return "target";
  return installed === previous ? "previous" : "elsewhere";
}

function expectedOf(node: NodeRow, machine: Machine): readonly Standing[] {
  const { status, stands } = node;
  switch (status) {
    case "pending":
    case "in_progress":
      return [];
    case "skipped":
    case "rolled_back":
      return ["previous"];
    case "succeeded":
      return ["target"];
    case "failed":
    case "failed_rollback":
      if (stands !== "target" && stands !== "previous") return unknownOf(node, machine);
      return isVerdictLost(node, machine) ? [stands, "broken"] : [stands]; // (1)
    default:
      return unreachable(status);
  }
}

/** A heartbeat found the node there after it was given up; the disk with its verdict of a failed way back was lost. */
const isVerdictLost = (node: NodeRow, machine: Machine): boolean =>
  isGivenUp(node) &&
  machine.verdictOn(node.commandId!) === "FAILED_ROLLBACK" &&
  !machine.hasSent(node.commandId!);

/** (2) */
function unknownOf(node: NodeRow, machine: Machine): readonly Standing[] {
  const { errorCode, direction, commandId, assigned } = node;
  const verdict = machine.verdictOn(commandId!);
  if (!machine.isDead(Number.MAX_SAFE_INTEGER) && assigned) {
    const cannotSay = machine.installed() === null || machine.installed() === "broken";
    return cannotSay ? ["broken", "previous"] : ["elsewhere"];
  }
  switch (errorCode) {
    case "COMPENSATION_FAILED":
      return ["broken"]; // whichever attempt it was that said so
    case "NODE_STEP_FAILED": // a way back that was not launched found it on the new version
      if (verdict === "COMPLETED") return [direction === "forward" ? "target" : "previous"];
      return node.status === "failed_rollback" ? ["target"] : foundOn(node);
    case "NODE_SILENT":
    case "GIVEN_UP":
    case "TIMEOUT": // (it never said anything again)
      if (verdict === "FAILED_ROLLBACK") return ["broken"];
      if (verdict === "COMPLETED") return [direction === "forward" ? "target" : "previous"];
      return foundOn(node);
    case "CURRENT_MISMATCH": // it runs what an earlier rollout brought late
      return [...foundOn(node), "elsewhere"];
    default: // it refused, and so it has done nothing
      return machine.refusalOf(commandId!) === errorCode && verdict === null ? foundOn(node) : [];
  }
}

/** Where its last command found it: an attempt before it may have been given up, and be anywhere. */
function foundOn({ direction, attempt }: NodeRow): readonly Standing[] {
  if (direction === "reverse") return ["target"];
  return attempt <= 1 ? ["previous"] : ["previous", "target", "broken"];
}
