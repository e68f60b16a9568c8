/**
 * What the operator wants on the nodes, from a file on this machine or from typed words.
 * Nothing in it has been near a server, which is why it may be signed.
 */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, ProfileId, RolloutId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ConfigFile, Manifest } from "../../core/manifest/schema.ts";
import {
  hashedRequest,
  RolloutCreateAuto,
  RolloutCreateManual,
  type RolloutCreate,
} from "../../core/rollout/create.ts";
import type { RolloutProposal } from "../../core/rollout/creation-rules.ts";
import { RunSpec, type ConfigRef } from "../../core/upgrade/job.ts";
import { parseManifest } from "../../host/manifest-file.ts";
import { digestOf, digestOfJson } from "../../trust/digest.ts";
import type { z } from "zod";
import { readNamedFile } from "../operator-files.ts";
import { sourceOf, type CreateOptions } from "./options.ts";

export interface Wish {
  readonly profile: ProfileId;
  readonly checksum: string;
  readonly run: RunSpec;
  readonly configs: readonly ConfigRef[];
  readonly proposal: RolloutProposal;
  /** The request for it, with the hash that the server must come to by itself (rule 6). */
  request(id: RolloutId, nodeIds: readonly NodeId[]): RolloutCreate;
}

export async function wishOf(options: CreateOptions): Promise<Wish> {
  const source = sourceOf(options);
  if (source.kind === "typed") return typedWish(options, source);
  return manifestWish(
    options,
    await readNamedFile("--manifest", source.file, LIMITS.manifestBytesMax),
    source.file,
  );
}

function manifestWish(options: CreateOptions, bytes: Uint8Array, file: string): Wish {
  const manifest = parseManifest(bytes, file);
  const { migration_type, recovery_plan } = manifest.state_compatibility;
  return {
    ...signable(manifest),
    proposal: {
      ...proposalOf(options, manifest.target_version, manifest.target_url, manifest.target_checksum),
      runtime: manifest.runtime,
      migrationType: migration_type,
      recoveryPlan: recovery_plan,
    },
    request: (id, nodeIds) =>
      checked(RolloutCreateAuto, {
        ...policyOf(options, manifest.chain_profile_id, id, nodeIds),
        upgrade_id: manifest.upgrade_id,
        manifest_content_hash: digestOf(bytes),
      }),
  };
}

/** The part of a manifest that an intent covers. */
export const signable = (manifest: Manifest): Pick<Wish, "profile" | "checksum" | "run" | "configs"> => ({
  profile: manifest.chain_profile_id,
  checksum: manifest.target_checksum,
  run: manifest.run,
  configs: configRefs(manifest.config_changes),
});

function typedWish(
  options: CreateOptions,
  source: Extract<ReturnType<typeof sourceOf>, { kind: "typed" }>,
): Wish {
  const { profile, binaryName, targetVersion, url, checksum } = source;
  const run = checked(RunSpec, { args: options.arg, env: options.env, user: options.user ?? null });
  return {
    profile,
    checksum,
    run,
    configs: [],
    proposal: proposalOf(options, targetVersion, url, checksum),
    request: (id, nodeIds) => {
      const request = checked(RolloutCreateManual, {
        ...policyOf(options, profile, id, nodeIds),
        binary_name: binaryName,
        target_version: targetVersion,
        target_binary_url: url,
        target_binary_checksum: checksum,
        run,
      });
      return { ...request, manifest_content_hash: digestOfJson(hashedRequest(request)) };
    },
  };
}

/** Ordered by path, as the server orders them: a leaf has one form. */
const configRefs = (files: readonly ConfigFile[]): ConfigRef[] =>
  files
    .map(({ path, mode, content }) => ({ path, mode, sha256: digestOf(content) }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));

const proposalOf = (
  options: CreateOptions,
  targetVersion: string,
  url: string,
  checksum: string,
): RolloutProposal => ({
  runtime: "process",
  sourceVersion: options.sourceVersion,
  targetVersion,
  url,
  checksum,
  strategy: "rolling",
  migrationType: "none",
  recoveryPlan: null,
  acknowledgeStateRisk: false,
});

const policyOf = (options: CreateOptions, profile: ProfileId, id: RolloutId, nodeIds: readonly NodeId[]) => ({
  id,
  chain_profile_id: profile,
  node_type: options.type,
  source_version: options.sourceVersion,
  batch_size: options.batchSize,
  failure_threshold: options.threshold,
  health_wait_seconds: options.healthWait / 1000,
  ...(nodeIds.length === 0 ? {} : { node_ids: nodeIds }),
});

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new FairleadError("INVALID_INPUT", `${path.join(".")}: ${message}`, { field: path.join(".") });
}
