/**
 * What agent and shim say to each other, and it is only this: files in one folder per program, and signals.
 *
 * 1. `launch.json` is written by the agent alone and says what is wanted; a shim reads it after taking the lock.
 * 2. `state.json` is written by the shim that holds the lock and says what is.
 * 3. Either may be older than the other: a shim outlives upgrades of the agent. What one does not know it ignores, and
 *    what is added later needs a default.
 * 4. `claims/{instance id}` exists from before that instance was spawned: it is never spawned again.
 */
import { join } from "node:path";
import { z } from "zod";
import type { ErrorCode } from "../../core/error-codes.ts";
import { isErrorCode } from "../../core/errors.ts";
import { Digest, Instant } from "../../core/ids.ts";
import { RunSpec } from "../../core/upgrade/job.ts";
import { ProcessIdentity } from "../../host/process-identity.ts";

export const Backoff = z.object({
  first_ms: z.int().min(1).default(500),
  max_ms: z.int().min(1).default(30_000),
  /** A program that ran this long has recovered: the next wait is short again. */
  stable_ms: z.int().min(1).default(60_000),
});
export type Backoff = z.infer<typeof Backoff>;

export const Launch = z.object({
  /** Counts launches of this program, so that a state is never taken for another launch's. */
  number: z.int().min(1),
  wanted: z.enum(["running", "stopped"]),
  key: z.string().min(1).max(180),
  program: z.string(),
  cwd: z.string(),
  fingerprint: Digest,
  run: RunSpec,
  /** The machine's own environment for the program; the run's values win. */
  machine_env: RunSpec.shape.env,
  stop_grace_ms: z.int().min(0),
  /** Of the same program before this launch: a shim that was killed does not hide a crash loop. */
  restarts: z.int().min(0).default(0),
  restarted_at: z.array(Instant).default([]),
  backoff: Backoff,
  log_bytes_max: z
    .int()
    .min(1024)
    .default(8 * 1024 * 1024),
});
export type Launch = z.infer<typeof Launch>;

export const LastExit = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  at: Instant,
});
export type LastExit = z.infer<typeof LastExit>;

export const ShimState = z.object({
  launch: z.int().min(1),
  status: z.enum(["starting", "running", "backoff", "stopped"]),
  shim: ProcessIdentity,
  program: ProcessIdentity.nullable(),
  instance_id: z.string().nullable(),
  started_at: Instant.nullable(),
  fingerprint: Digest,
  /** Device and inode of the bytes; null for a script, whose process is its interpreter. */
  executable: z.string().nullable(),
  restarts: z.int().min(0),
  restarted_at: z.array(Instant),
  last_exit: LastExit.nullable(),
  error: z.object({ code: z.custom<ErrorCode>(isErrorCode), message: z.string() }).nullable(),
});
export type ShimState = z.infer<typeof ShimState>;

export const RESTARTS_LISTED_MAX = 50;

export const SHIM_LOCK = "shim";
export const launchPath = (folder: string): string => join(folder, "launch.json");
export const statePath = (folder: string): string => join(folder, "state.json");
export const claimsPath = (folder: string): string => join(folder, "claims");
export const programLogPath = (folder: string): string => join(folder, "program.log");
export const shimLogPath = (folder: string): string => join(folder, "shim.log");

/** Set in every program's environment: which instance, and of which program on this machine. */
export const INSTANCE_ENV = "FAIRLEAD_INSTANCE_ID";
export const FOLDER_ENV = "FAIRLEAD_PROGRAM_FOLDER";
