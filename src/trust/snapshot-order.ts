/** Checks 7 to 9 of a snapshot: its time, its epoch, its version (SNAP-11, SNAP-17). */
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import { isNewer, versionOf } from "../core/snapshot/envelope.ts";
import { SCOPES } from "../core/snapshot/scopes.ts";
import { TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { fail, ok, type Failure, type Subject } from "./snapshot-subject.ts";

export function timesAcceptable({ header, context }: Subject): Failure | null {
  const refuse = (field: string, reason: string) => fail("SNAPSHOT_TIME_REFUSED", field, reason);
  const at = (text: string) => Date.parse(text);
  if (at(header.issued_at) > context.time.local + LIMITS.issuedAheadMaxMs)
    return refuse("issued_at", "more than 24 hours ahead of the local clock");
  if (at(header.valid_from) > context.time.local)
    return refuse("valid_from", `not valid before ${header.valid_from}`);
  if (at(header.expires_at) <= context.time.effective)
    return refuse("expires_at", `expired at ${header.expires_at}`);
  if (at(header.refresh_after) > at(header.expires_at))
    return refuse("refresh_after", "later than expires_at");
  return ok;
}

/** Scopes of two epochs never stand side by side: what the online key signs is of the epoch that the root opened. */
export function epochAcceptable({ header, context }: Subject): Failure | null {
  const { scope_type: scope, authority_epoch: epoch } = header;
  const floor = Math.max(context.epoch ?? 0, context.accepted(scope)?.epoch ?? 0);
  if (epoch < floor) return fail("SNAPSHOT_EPOCH_STALE", "authority_epoch", `epoch ${epoch} < ${floor}`);
  if (SCOPES[scope].signer === "root" || epoch === context.epoch) return ok;
  return fail("SNAPSHOT_EPOCH_UNKNOWN", "authority_epoch", `no trust bundle opened epoch ${epoch}`);
}

/** The second half of check 8: what opens an epoch is root-signed content, so it waits until that may be read. */
export function recoveryOpensEpoch({ header, context }: Subject, content: Json): Failure | null {
  if (header.scope_type !== "trust_bundle") return ok;
  const parsed = TrustBundle.safeParse(content);
  if (!parsed.success) return ok; // check 11 says why
  const { recovery } = parsed.data;
  const { authority_epoch: epoch } = header;
  const invalid = (reason: string) => fail("SNAPSHOT_CONTENT_INVALID", "recovery", reason);
  if (recovery !== null && recovery.from_epoch >= epoch) return invalid("it leads to no newer epoch");
  if (context.epoch === null) return ok;
  if (epoch === context.epoch) return recovery === null ? ok : invalid("the epoch stays as it is");
  if (recovery !== null && recovery.from_epoch <= context.epoch) return ok;
  const why =
    recovery === null ? "it holds no recovery" : `its recovery begins at epoch ${recovery.from_epoch}`;
  return fail("SNAPSHOT_EPOCH_UNKNOWN", "recovery", `epoch ${context.epoch} cannot become ${epoch}: ${why}`);
}

export function versionNewer({ header, context }: Subject): Failure | null {
  const accepted = context.accepted(header.scope_type);
  if (accepted === null || isNewer(versionOf(header), accepted)) return ok;
  return fail(
    "SNAPSHOT_ROLLBACK",
    "config_version",
    `version ${header.config_version} ≤ ${accepted.version}`,
  );
}
