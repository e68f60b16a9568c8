/**
 * What a node is asked to become: bytes by digest, the way to run them, the files beside them.
 * References only; nothing here says how.
 */
import { z } from "zod";
import { CommandId, Digest, Name, NodeId, ProfileId, RolloutId, UpgradeId, Version } from "../ids.ts";
import { LIMITS } from "../limits.ts";

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const noControl = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => ![...text].some(isControl), "control characters are refused");

function isControl(character: string): boolean {
  const point = character.codePointAt(0)!;
  return point < 0x20 || point === 0x7f;
}

/** argv (without the program itself), environment and user of the program. Its digest is in the intent. */
export const RunSpec = z.strictObject({
  args: z.array(noControl(4096)).max(256).default([]),
  env: z.record(z.string().regex(ENV_NAME).max(128), noControl(4096)).default({}),
  user: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}$/)
    .nullable()
    .default(null),
});
export type RunSpec = z.infer<typeof RunSpec>;

/** Relative to the program's config folder: no way out of it. */
export const ConfigPath = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/, "a plain relative path")
  .refine((path) => !path.split("/").includes(".."), "`..` is refused");

/** `mode` is octal text: no leading bits beyond permissions. */
export const ConfigRef = z.strictObject({
  path: ConfigPath,
  mode: z.string().regex(/^0[0-7]{3}$/),
  sha256: Digest,
});
export type ConfigRef = z.infer<typeof ConfigRef>;

const DIRECTIONS = ["forward", "reverse"] as const;
export const Direction = z.enum(DIRECTIONS);
export type Direction = z.infer<typeof Direction>;

export const ArtifactRef = z.strictObject({
  name: Name,
  version: Version,
  fingerprint: Digest,
  url: z.string().max(2048),
});
export type ArtifactRef = z.infer<typeof ArtifactRef>;

/** One (rollout, node, direction, attempt): runs at most once on a node. */
export const UpgradeJob = z.strictObject({
  command_id: CommandId,
  rollout_id: RolloutId,
  upgrade_id: UpgradeId.nullable(),
  node_id: NodeId,
  chain_profile_id: ProfileId,
  direction: Direction,
  attempt: z.int().min(1).max(1000),
  artifact: ArtifactRef,
  run: RunSpec,
  configs: z.array(ConfigRef).max(LIMITS.configFilesMax),
});
export type UpgradeJob = z.infer<typeof UpgradeJob>;

export const jobKey = (job: Pick<UpgradeJob, "rollout_id" | "direction" | "attempt">): string =>
  `${job.rollout_id}.${job.direction}.${job.attempt}`;
