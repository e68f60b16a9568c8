/**
 * A unit that Fairlead has never started runs as its operator wrote it. The way back from an upgrade must lead there
 * again, so the local config has to say how that is; when it says something else, nothing is touched.
 */
import { FairleadError } from "../../../../core/errors.ts";
import type { SystemdProgram } from "../../../programs/config.ts";
import type { UnitState } from "./unit-state.ts";

/** Throws UNIT_DIFFERS. systemd tells a command's words parted by blanks, and so they are compared. */
export function expectAdoptable({ unit, install_path, run }: SystemdProgram, { commands }: UnitState): void {
  const expected = [install_path, ...run.args].join(" ");
  if (commands.length === 1 && commands[0] === expected && !expected.includes("$")) return;
  const found = commands.map((command) => JSON.stringify(command)).join(" and ");
  throw new FairleadError(
    "UNIT_DIFFERS",
    `${unit} runs ${found || "nothing"}, the agent's config says ${JSON.stringify(expected)}`,
  );
}
