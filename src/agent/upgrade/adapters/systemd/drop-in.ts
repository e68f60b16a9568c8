/**
 * The drop-in that carries a signed run into the operator's unit: how the program is started, its environment, its
 * user. Its first line is the same once more for ourselves, so what was written and what it means cannot part.
 */
import { z } from "zod";
import { FairleadError } from "../../../../core/errors.ts";
import { Digest } from "../../../../core/ids.ts";
import { RunSpec } from "../../../../core/upgrade/job.ts";
import type { SystemdProgram } from "../../../programs/config.ts";
import { INSTANCE_ENV } from "../../../shim/files.ts";
import { argument, comment, environmentValue, executable, line } from "./quoting.ts";

/** Read from a file that an older or newer agent may have written: unknown fields are ignored. */
export const Launch = z.object({
  instance_id: z.string().min(1).max(200),
  key: z.string().min(1).max(180),
  fingerprint: Digest,
  run: RunSpec,
});
export type Launch = z.infer<typeof Launch>;

const MARK = "# fairlead-launch ";

/** `install_path` and the machine's own environment come from the local config, the rest is signed. */
export function dropInText(
  launch: Launch,
  { install_path, env, stop_grace_ms }: Pick<SystemdProgram, "install_path" | "env" | "stop_grace_ms">,
): string {
  const { instance_id, run } = launch;
  const environment = { ...env, ...run.env, [INSTANCE_ENV]: instance_id };
  return [
    comment(MARK, launch),
    "# Written by the Fairlead agent before each start. Changes are lost; the unit itself is yours.\n",
    "[Service]\n",
    line("ExecStart"), // takes the unit's own command away
    line("ExecStart", executable(install_path), ...run.args.map(argument)),
    ...Object.entries(environment).map(([name, value]) => line("Environment", environmentValue(name, value))),
    line("TimeoutStopSec", `${Math.max(1, stop_grace_ms)}ms`), // zero would be for ever
    ...(run.user === null ? [] : [line("User", run.user)]),
  ].join("");
}

/** Undefined for a text that is not ours. */
export function launchOf(text: string): Launch | undefined {
  const [first = ""] = text.split("\n", 1);
  if (!first.startsWith(MARK)) return undefined;
  try {
    return Launch.parse(JSON.parse(first.slice(MARK.length)));
  } catch (error) {
    throw new FairleadError("ACTION_FAILED", "the drop-in was changed by hand: remove it", {}, error);
  }
}

/**
 * Keeps systemd from starting the program by itself (at boot, or for another unit) between our stop and our start,
 * when its files may be half of one version and half of another. A start in that time fails and says why.
 */
export const STOPPED_TEXT = [
  "# Written by the Fairlead agent when it stopped the program, removed when it starts it again.\n",
  "# To start the program without the agent: remove this file, then systemctl daemon-reload.\n",
  "[Unit]\n",
  "AssertPathExists=/dev/null/stopped-by-fairlead\n",
].join("");
