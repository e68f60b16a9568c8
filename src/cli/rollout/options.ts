/** The words of `rollout create`. What needs a manifest and what needs none cannot be mixed. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Name, ProfileId, Version } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { count, DurationMs, KeyValues, Ratio } from "../options.ts";

export const CreateOptions = z.object({
  manifest: z.string().optional(),
  profile: ProfileId.optional(),
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
  batchSize: count(1, LIMITS.batchNodesMax),
  threshold: Ratio,
  healthWait: DurationMs.refine((ms) => ms <= LIMITS.healthWaitMaxMs, "at most 7d"),
  maxAttempts: count(1, 100),
  window: DurationMs.refine((ms) => ms > 0, "longer than nothing"),
  rollback: z.boolean(),
  releaseKey: z.string().optional(),
  sign: z.boolean(),
  localChecks: z.boolean(),
  start: z.boolean().default(false),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});
export type CreateOptions = z.infer<typeof CreateOptions>;

const MANUAL = ["profile", "binaryName", "targetVersion", "url", "checksum", "user"] as const;
const MANUAL_NEEDS = ["profile", "binaryName", "targetVersion", "url"] as const;

export type Source =
  | { readonly kind: "manifest"; readonly file: string }
  | {
      readonly kind: "typed";
      readonly profile: ProfileId;
      readonly binaryName: string;
      readonly targetVersion: string;
      readonly url: string;
      /** Empty is creation rule 1's to refuse, with its own code. */
      readonly checksum: string;
    };

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
