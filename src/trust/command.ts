/** Commands: signed by the online key, verified by the agent before anything else looks at them (SNAP-16). */
import { FairleadError } from "../core/errors.ts";
import type { Digest, KeyId } from "../core/ids.ts";
import { COMMAND_DOMAIN, CommandHeader, UpgradePayload } from "../core/protocol/command.ts";
import type { TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { digestOf } from "./digest.ts";
import { decodeFrame, signFrames } from "./frame.ts";
import type { Signer } from "./keys.ts";
import type { SealedContent } from "./sealed-content.ts";
import { parseCanonical } from "./strict-json.ts";
import { checkThreshold, onlineKeyFor, type TimeWindow } from "./trusted-keys.ts";

export type CommandDraft = Omit<CommandHeader, "content_hash" | "signer_key_id">;

/** Nodes with the same payload share its bytes and their hash. */
export function sealPayload(payload: UpgradePayload): SealedContent {
  const bytes = canonicalBytes(payload);
  return { bytes, content_hash: digestOf(bytes) };
}

export interface UnsignedCommand {
  readonly draft: CommandDraft;
  readonly payload: SealedContent;
}

export const signCommand = (draft: CommandDraft, payload: UpgradePayload, signer: Signer): Buffer =>
  signCommands([{ draft, payload: sealPayload(payload) }], signer)[0]!;

/** In their order. */
export const signCommands = (commands: readonly UnsignedCommand[], signer: Signer): Buffer[] =>
  signFrames(
    COMMAND_DOMAIN,
    commands.map(({ draft, payload }) => ({
      header: headerOf(draft, payload.content_hash, signer),
      content: payload.bytes,
    })),
    [signer],
  );

/** In the order of the canonical form, as the headers of snapshots. */
const headerOf = (draft: CommandDraft, content_hash: Digest, signer: Signer): CommandHeader => ({
  assignment_config_version: draft.assignment_config_version,
  attempt: draft.attempt,
  chain_profile_id: draft.chain_profile_id,
  cluster_id: draft.cluster_id,
  command_id: draft.command_id,
  command_type: draft.command_type,
  content_hash,
  direction: draft.direction,
  expires_at: draft.expires_at,
  fingerprint: draft.fingerprint,
  intent_digest: draft.intent_digest,
  issued_at: draft.issued_at,
  rollout_id: draft.rollout_id,
  sequence: draft.sequence,
  signer_key_id: signer.record.key_id,
  subject_node_id: draft.subject_node_id,
});

export interface VerifiedCommand {
  readonly header: CommandHeader;
  readonly payload: UpgradePayload;
}

/** Origin and integrity only; sequence, window and agreement with intent and assignment are the agent's to check. */
export function verifyCommand(
  bytes: Uint8Array,
  bundle: TrustBundle,
  time: TimeWindow,
  revokedKeys: readonly KeyId[] = [],
): VerifiedCommand {
  const { frame, header } = whole(() => {
    const frame = decodeFrame(bytes);
    return { frame, header: CommandHeader.parse(parseCanonical(frame.header)) };
  });
  const signer = onlineKeyFor(bundle, header.signer_key_id, "service_assignment", time, revokedKeys);
  if (signer.kind === "untrusted")
    throw new FairleadError("COMMAND_UNTRUSTED", `command refused: ${signer.reason}`);
  const verdict = checkThreshold(COMMAND_DOMAIN, frame, { threshold: 1, keys: [signer.record] });
  if (verdict.kind === "short")
    throw new FairleadError("COMMAND_UNTRUSTED", "the command's signature is not valid");
  if (digestOf(frame.content) !== header.content_hash) throw malformed("its payload is not what was signed");
  const payload = UpgradePayload.safeParse(whole(() => parseCanonical(frame.content)));
  if (!payload.success) throw malformed(`payload field ${payload.error.issues[0]?.path.join(".") ?? ""}`);
  return { header, payload: payload.data };
}

function whole<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new FairleadError("COMMAND_MALFORMED", "the command's bytes are damaged", undefined, cause);
  }
}

const malformed = (why: string): FairleadError =>
  new FairleadError("COMMAND_MALFORMED", `command refused: ${why}`);
