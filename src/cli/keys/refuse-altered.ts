/** Is a bundle, signed by some and waiting for others, still what the first of them signed? */
import { FairleadError } from "../../core/errors.ts";
import { isNewer, versionOf } from "../../core/snapshot/envelope.ts";
import { rootSignatures } from "../../trust/bundle-draft.ts";
import { digestOf } from "../../trust/digest.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { checkBundleRules } from "../../trust/trust-bundle-rules.ts";
import type { BelievedBundle } from "./believe.ts";

export function refuseAltered(
  { frame, header, content }: BelievedBundle,
  before: BelievedBundle | null,
): void {
  const parts = decodeFrame(frame);
  if (digestOf(parts.content) !== header.content_hash) throw refused("its content is not what was signed");
  const roots = [...(before?.content.root.keys ?? []), ...content.root.keys];
  const keys = [...new Map(roots.map((key) => [key.key_id, key])).values()];
  const { valid } = rootSignatures(frame, { threshold: 1, keys });
  const bad = parts.signatures.find(({ key_id }) => !valid.includes(key_id));
  if (bad !== undefined) throw refused(`the signature of key ${bad.key_id.slice(0, 12)} does not verify`);
  const failure = checkBundleRules(content, before?.content ?? null);
  if (failure !== null) throw refused(`${failure.field}: ${failure.reason}`);
  if (before !== null && !isNewer(versionOf(header), versionOf(before.header)))
    throw refused(`bundle ${before.header.config_version} is already known here, and this one is not newer`);
}

const refused = (why: string): FairleadError =>
  new FairleadError("BUNDLE_REFUSED", `the trust bundle is refused: ${why}`);
