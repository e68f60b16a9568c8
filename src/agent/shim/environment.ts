/** What a program gets of the machine: nothing of ours, what its run spec says, and who it is. */
import type { RunSpec } from "../../core/upgrade/job.ts";
import { lookUpUser } from "../programs/user.ts";
import { FOLDER_ENV, INSTANCE_ENV } from "./files.ts";

export interface Surroundings {
  readonly uid?: number;
  readonly gid?: number;
  readonly home: string;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export async function surroundingsOf(run: RunSpec, cwd: string): Promise<Surroundings> {
  const user = await lookUpUser(run.user);
  return user === null ? { home: cwd } : { uid: user.uid, gid: user.gid, home: user.home };
}

/** The last two cannot be set by a run spec: the agent finds an orphan by them. */
export function environmentOf(about: {
  readonly folder: string;
  readonly instance_id: string;
  readonly run: RunSpec;
  readonly machine_env: RunSpec["env"];
  readonly surroundings: Surroundings;
}): Record<string, string> {
  const { folder, instance_id, run, machine_env, surroundings } = about;
  return {
    PATH,
    HOME: surroundings.home,
    ...machine_env,
    ...run.env,
    [INSTANCE_ENV]: instance_id,
    [FOLDER_ENV]: folder,
  };
}
