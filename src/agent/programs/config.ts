/**
 * One program in the agent's local config, owned by the machine's operator: where it lies and how it is looked after.
 * Nothing here comes from the control plane, so nothing the control plane says can move a path or widen an origin.
 */
import { isAbsolute, normalize } from "node:path";
import { z } from "zod";
import { ProfileId, Version } from "../../core/ids.ts";
import { RunSpec } from "../../core/upgrade/job.ts";
import { isLoopbackHost } from "./loopback.ts";

const AbsolutePath = z
  .string()
  .min(2)
  .max(4000)
  .refine(
    (path) => isAbsolute(path) && normalize(path) === path && !path.endsWith("/"),
    "a plain absolute path",
  )
  .refine((path) => !path.includes("\0"), "NUL is refused");

const LoopbackUrl = z.string().refine(isLoopbackUrl, "an http address on loopback");

/** Such as `https://artifacts.example` or `http://127.0.0.1:8080`: compared as a whole, so written as a whole. */
const Origin = z.string().refine(isOrigin, "scheme, host and port only");

export const HealthProbe = z.strictObject({
  url: LoopbackUrl,
  /** Dot path into the answer's JSON, such as `result.sync_status`. */
  sync_field: z
    .string()
    .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){0,9}$/)
    .optional(),
});
export type HealthProbe = z.infer<typeof HealthProbe>;

/** What every program has, whatever runs it. */
const common = {
  data_dir: AbsolutePath,
  config_dir: AbsolutePath,
  health: HealthProbe,
  artifact_origins: z.array(Origin).max(32).default([]),
  /** Stays below the budget of `stop_node`, or a program that ignores SIGTERM could never be stopped in time. */
  stop_grace_ms: z.int().min(0).max(40_000).default(10_000),
  /** How the version that was provisioned runs, until an upgrade says otherwise. */
  run: RunSpec.prefault({}),
  /** What only this machine knows, such as a port. The signed run's own values win. */
  env: RunSpec.shape.env,
  /** The version that was provisioned, for display only. */
  version: Version.nullable().default(null),
};

export const ProcessProgram = z.strictObject({
  ...common,
  runtime: z.literal("process").default("process"),
  install_path: AbsolutePath,
});
export type ProcessProgram = z.infer<typeof ProcessProgram>;

export const SystemdProgram = z.strictObject({
  ...common,
  runtime: z.literal("systemd"),
  install_path: AbsolutePath.refine(
    (path) => !/[$\x00-\x1f\x7f]/.test(path),
    "systemd would read it otherwise",
  ),
  /** Made by the machine's operator; Fairlead adds drop-ins to it. No template without its instance. */
  unit: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9][A-Za-z0-9:_.-]*(@[A-Za-z0-9:_.-]+)?\.service$/),
});
export type SystemdProgram = z.infer<typeof SystemdProgram>;

/** Written in full, with its registry: the engine completes no short name for us. */
const Repository = z
  .string()
  .max(255)
  .regex(
    /^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(\/[a-z0-9]+([._-]{1,2}[a-z0-9]+)*)+$/,
    "registry/repository, without a tag",
  );

export const DockerProgram = z.strictObject({
  ...common,
  runtime: z.literal("docker"),
  /** Made by the machine's operator; Fairlead puts others in its place that have its settings. */
  container: z
    .string()
    .max(100)
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/),
  engine_socket: AbsolutePath.default("/var/run/docker.sock"),
  image_repositories: z.array(Repository).max(32).default([]),
  /** JSON with `registry`, and `username` and `password` or `identitytoken`; its owner's alone. */
  registry_auth_file: AbsolutePath.nullable().default(null),
});
export type DockerProgram = z.infer<typeof DockerProgram>;

export const ProgramConfig = z.discriminatedUnion("runtime", [ProcessProgram, SystemdProgram, DockerProgram]);
export type ProgramConfig = z.infer<typeof ProgramConfig>;

/** Programs that are one executable file. */
export type FileProgram = ProcessProgram | SystemdProgram;

/** Two programs that shared one of these would install, back up or stop each other's (ROLL-28). */
const OWN_PLACES = ["install_path", "data_dir", "config_dir", "unit", "container"];

export const ProgramsConfig = z.record(ProfileId, ProgramConfig).superRefine((programs, context) => {
  for (const place of OWN_PLACES) {
    const owners = new Map<string, string>();
    for (const [profile, program] of Object.entries(programs)) {
      const value = (program as Record<string, unknown>)[place];
      if (typeof value !== "string") continue;
      const other = owners.get(value);
      if (other !== undefined)
        context.addIssue({
          code: "custom",
          path: [profile, place],
          message: `${other} has the same ${place}`,
        });
      owners.set(value, profile);
    }
  }
});
export type ProgramsConfig = z.infer<typeof ProgramsConfig>;

function isLoopbackUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" && url.username === "" && isLoopbackHost(url.hostname);
}

function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text;
}
