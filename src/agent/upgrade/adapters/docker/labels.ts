/**
 * What Fairlead writes on the containers that it makes. A container's labels never change, so they are the one record
 * that cannot get lost between making it and noting it down.
 *
 * 1. Of variables they hold names only: labels are copied into metrics and listings where values have no business.
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { RunSpec } from "../../../../core/upgrade/job.ts";
import { INSTANCE_ENV } from "../../../shim/files.ts";
import { type Container, RestartPolicy } from "./schemas.ts";

export const LABEL_PREFIX = "io.fairlead.";

export const LABELS = {
  profile: "io.fairlead.profile",
  /** Of the job that made it. */
  key: "io.fairlead.key",
  instance: "io.fairlead.instance",
  /** `repository@sha256:…`, as it was asked for. */
  image: "io.fairlead.image",
  run: "io.fairlead.run",
  machine: "io.fairlead.machine",
  /** The id of the container that a rollback goes back to: the newest before it with another image or run. */
  replaced: "io.fairlead.replaced",
} as const;

const RunLabel = z.object({
  args: z.array(z.string()),
  user: z.string().nullable(),
  env: z.array(z.string()),
});

/** What the machine's operator set beside the signed run: carried from container to container. */
export const MachinePart = z.object({
  user: z.string(),
  restart: RestartPolicy,
  /** Names that are not his: the signed run's, and what the agent adds. */
  not_env: z.array(z.string()),
});
export type MachinePart = z.infer<typeof MachinePart>;

export const keyOf = ({ Config }: Container): string | undefined => Config.Labels[LABELS.key];

export const runLabel = ({ args, user, env }: RunSpec): string =>
  JSON.stringify({ args, user, env: Object.keys(env) } satisfies z.infer<typeof RunLabel>); // (1)

/** How the container runs; what Fairlead did not make runs as the local config says. */
export function runOf({ Config }: Container, provisioned: RunSpec): RunSpec {
  const label = labelled(Config.Labels[LABELS.run], RunLabel);
  if (label === undefined) return provisioned;
  const values = new Map(Config.Env.map((entry) => [nameOf(entry), entry.slice(nameOf(entry).length + 1)]));
  return { ...label, env: Object.fromEntries(label.env.map((name) => [name, values.get(name) ?? ""])) };
}

export function isRunAs(container: Container, provisioned: RunSpec, run: RunSpec): boolean {
  return isDeepStrictEqual(withoutInstance(runOf(container, provisioned)), withoutInstance(run));
}

/** Who a program is says the agent, whatever a run spec says. */
function withoutInstance({ env, ...run }: RunSpec): RunSpec {
  return { ...run, env: Object.fromEntries(Object.entries(env).filter(([name]) => name !== INSTANCE_ENV)) };
}

export const machinePartOf = ({ Config }: Container): MachinePart | undefined =>
  labelled(Config.Labels[LABELS.machine], MachinePart);

/** Of `NAME=value`. */
export const nameOf = (entry: string): string => entry.split("=", 1)[0]!;

function labelled<T>(text: string | undefined, schema: z.ZodType<T>): T | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // somebody else's words under our name
  }
}
