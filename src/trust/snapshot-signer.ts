/** Checks 4 and 5 of a snapshot: may these keys sign this scope, and did they. */
import { SCOPES } from "../core/snapshot/scopes.ts";
import { whyNotSigned, whyUntrusted } from "./online-signatures.ts";
import { rootSignaturesVerify, rootSignerTrusted } from "./root-signatures.ts";
import { fail, ok, type Failure, type Subject } from "./snapshot-subject.ts";

export const SNAPSHOT_DOMAIN = "fairlead/snapshot/v1";

export function signerTrusted(subject: Subject): Failure | null {
  const { header, frame, context } = subject;
  if (SCOPES[header.scope_type].signer === "root") return rootSignerTrusted(subject);
  const { bundle, time, revokedKeys } = context;
  const reason =
    bundle === null
      ? "no trust bundle is in force"
      : whyUntrusted(header, frame, { bundle, revokedKeys, scope: header.scope_type, time });
  return reason === null ? ok : fail("SNAPSHOT_KEY_UNTRUSTED", "signer_key_id", reason);
}

export function signatureVerifies(subject: Subject): Failure | null {
  const { header, frame, context, domain } = subject;
  if (SCOPES[header.scope_type].signer === "root") return rootSignaturesVerify(subject);
  const reason = whyNotSigned(domain, frame, context.bundle!);
  return reason === null ? ok : fail("SNAPSHOT_SIGNATURE_INVALID", "signature", reason);
}
