/** The words of `rollout create`. What needs a manifest and what needs none cannot be mixed. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Name, ProfileId, Version } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { Runtime } from "../../core/manifest/schema.ts";
import { RolloutChoice } from "../../core/rollout/create.ts";
import { Strategy } from "../../core/rollout/states.ts";
import { count, DurationMs, KeyValues, Ratio } from "../options.ts";
import { checked } from "./checked.ts";

/** How an intent is signed. */
export const SigningOptions = z.object({
  maxAttempts: count(1, 100),
  window: DurationMs.refine((ms) => ms > 0, "longer than nothing"),
  rollback: z.boolean(),
  releaseKey: z.string().optional(),
  sign: z.boolean(),
});
export type SigningOptions = z.infer<typeof SigningOptions>;

const LabelCount = z
  .string()
  .regex(/^[^=]+=[1-9]\d{0,4}$/, "a label and a number, such as zone=1")
  .transform((text) => {
    const at = text.lastIndexOf("=");
    return { label: text.slice(0, at), count: Number(text.slice(at + 1)) };
  });

export const CreateOptions = SigningOptions.extend({
  manifest: z.string().optional(),
  templates: z.string().optional(),
  profile: ProfileId.optional(),
  runtime: Runtime.optional(),
  binaryName: Name.optional(),
  targetVersion: Version.optional(),
  url: z.string().optional(),
  checksum: z.string().optional(),
  arg: z.array(z.string()),
  env: KeyValues,
  user: z.string().optional(),
  type: Name,
  sourceVersion: Version,
  node: z.array(z.string()),
  label: KeyValues,
  strategy: Strategy,
  batchSize: count(1, LIMITS.batchNodesMax),
  canarySize: count(1, LIMITS.batchNodesMax).optional(),
  maxUnavailable: LabelCount.optional(),
  threshold: Ratio,
  forceContinue: z.boolean().default(false),
  skipValidation: z.boolean().default(false),
  acknowledgeStateRisk: z.boolean().default(false),
  healthWait: DurationMs.refine((ms) => ms <= LIMITS.healthWaitMaxMs, "at most 7d"),
  localChecks: z.boolean(),
  start: z.boolean().default(false),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});
export type CreateOptions = z.infer<typeof CreateOptions>;

export const choiceOf = (options: CreateOptions): RolloutChoice =>
  checked(RolloutChoice, {
    node_type: options.type,
    source_version: options.sourceVersion,
    strategy: options.strategy,
    batch_size: options.batchSize,
    failure_threshold: options.threshold,
    health_wait_seconds: options.healthWait / 1000,
    acknowledge_state_risk: options.acknowledgeStateRisk,
    canary_size: options.canarySize,
    force_continue: options.forceContinue,
    skip_validation: options.skipValidation,
    max_unavailable: options.maxUnavailable,
    node_labels: options.label,
  });

const MANUAL = ["profile", "runtime", "binaryName", "targetVersion", "url", "checksum", "user"] as const;
const MANUAL_NEEDS = ["profile", "binaryName", "targetVersion", "url"] as const;

export interface TypedSource {
  readonly kind: "typed";
  readonly profile: ProfileId;
  readonly binaryName: string;
  readonly targetVersion: string;
  readonly url: string;
  /** Empty is creation rule 1's to refuse, with its own code. */
  readonly checksum: string;
}

export type Source = { readonly kind: "manifest"; readonly file: string } | TypedSource;

export function sourceOf(options: CreateOptions): Source {
  const typed = MANUAL.filter((name) => options[name] !== undefined);
  if (options.manifest !== undefined) {
    const mixed = typed.length > 0 || options.arg.length > 0 || Object.keys(options.env).length > 0;
    if (mixed)
      throw new FairleadError(
        "USAGE",
        "--manifest says what to install: leave out the flags that say it too",
      );
    return { kind: "manifest", file: options.manifest };
  }
  if (options.templates !== undefined)
    throw new FairleadError("USAGE", "--templates goes with --manifest, which names them");
  const { profile, binaryName, targetVersion, url, checksum = "" } = options;
  if (profile === undefined || binaryName === undefined || targetVersion === undefined || url === undefined) {
    const missing = MANUAL_NEEDS.filter((name) => options[name] === undefined).map(flagOf);
    throw new FairleadError("USAGE", `give --manifest, or else ${missing.join(", ")}`);
  }
  return { kind: "typed", profile, binaryName, targetVersion, url, checksum };
}

const flagOf = (name: (typeof MANUAL_NEEDS)[number]): string =>
  ({ profile: "--profile", binaryName: "--binary-name", targetVersion: "--target-version", url: "--url" })[
    name
  ];
