/**
 * What the operator wants on the nodes, from a file on this machine or from typed words.
 * Nothing in it has been near a server, which is why it may be signed.
 */
import { Digest, type NodeId, type ProfileId, type RolloutId } from "../../core/ids.ts";
import type { RolloutChoice, RolloutCreate } from "../../core/rollout/create.ts";
import type { RolloutProposal } from "../../core/rollout/creation-rules.ts";
import type { RunSpec } from "../../core/upgrade/job.ts";
import type { ConfigPlan } from "../../render/configs.ts";
import { readManifestWish } from "./manifest-wish.ts";
import { choiceOf, sourceOf, type CreateOptions } from "./options.ts";
import { typedWish, waresOf } from "./typed-wish.ts";

export interface Wish {
  readonly profile: ProfileId;
  readonly binaryName: string;
  readonly run: RunSpec;
  readonly choice: RolloutChoice;
  readonly proposal: RolloutProposal;
  /** Made when it is asked for: a broken rule is told before a broken template. */
  plan(): ConfigPlan;
  /** The request for it, with the hash that the server must come to by itself (rule 6). */
  request(id: RolloutId, nodeIds: readonly NodeId[]): RolloutCreate;
}

export async function wishOf(options: CreateOptions): Promise<Wish> {
  const source = sourceOf(options);
  const choice = choiceOf(options);
  if (source.kind === "manifest")
    return readManifestWish({ flag: "--manifest", file: source.file, templates: options.templates, choice });
  return typedWish(source.profile, waresOf(source, options), choice);
}

/** Null for what is no fingerprint: nothing can be signed for it, and the server says what is wrong with it. */
export function fingerprintOf({ proposal }: Pick<Wish, "proposal">): Digest | null {
  const parsed = Digest.safeParse(proposal.checksum);
  return parsed.success ? parsed.data : null;
}
