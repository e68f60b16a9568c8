/** A trust bundle from a file: believed because the operator named it, and only if its own root keys signed it. */
import { FairleadError } from "../../core/errors.ts";
import { SnapshotHeader } from "../../core/snapshot/envelope.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { SNAPSHOT_DOMAIN } from "../../trust/snapshot-signer.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import { checkThreshold } from "../../trust/trusted-keys.ts";
import { digestOf } from "../../trust/digest.ts";

export interface OpenBundle {
  readonly header: SnapshotHeader;
  readonly content: TrustBundle;
}

export function openBundle(bytes: Buffer): OpenBundle {
  const frame = decodeFrame(bytes);
  const header = SnapshotHeader.safeParse(parseCanonical(frame.header));
  const content = TrustBundle.safeParse(parseCanonical(frame.content));
  if (!header.success || !content.success || header.data.scope_type !== "trust_bundle")
    throw refused("it is no trust bundle");
  if (header.data.content_hash !== digestOf(frame.content))
    throw refused("its content is not what was signed");
  const verdict = checkThreshold(SNAPSHOT_DOMAIN, frame, content.data.root);
  if (verdict.kind === "short") throw refused(verdict.reason);
  return { header: header.data, content: content.data };
}

const refused = (why: string): FairleadError =>
  new FairleadError("BUNDLE_REFUSED", `--bundle: ${why}`, { field: "--bundle" });
