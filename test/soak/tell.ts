/** A soak in words: a line for each day, and its failure. */
import type { Day } from "./day.ts";
import type { Fault, Round } from "./plan.ts";

const HOUR_S = 3_600;

/** In hours, as whole days where they are. */
function spanOf(seconds: number): string {
  const hours = Math.round(seconds / HOUR_S);
  return Math.abs(hours) >= 48 && hours % 24 === 0 ? `${hours / 24} d` : `${hours} h`;
}

function faultWords({ kind, host, moment, isLate, seconds }: Fault): string {
  const size = seconds === 0 ? "" : ` ${spanOf(seconds)}`;
  return `${kind.replaceAll("_", " ")}${size} host-${host + 1} ${moment}${isLate ? ", late" : ""}`;
}

export const roundWords = ({ release, faults }: Round): string =>
  `${release} release; ${faults.map(faultWords).join("; ")}`;

export function dayLine(round: Round, { version, ending, caughtUp, seconds }: Day): string {
  const after = caughtUp === 0 ? "" : `, then ${caughtUp} more for nodes left behind`;
  const day = String(round.day).padStart(2);
  return `day ${day}  ${seconds.toFixed(1).padStart(5)} s  ${version} ${ending}${after} (${roundWords(round)})`;
}
