/** Checks 7 to 9 of a snapshot: its time, its epoch, its version (SNAP-11, SNAP-17). */
import type { Json } from "../core/json.ts";
import { isNewer, versionOf } from "../core/snapshot/envelope.ts";
import { SCOPES } from "../core/snapshot/scopes.ts";
import { TIME_RESET, TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { AHEAD_REASON, isTooFarAhead } from "./node-time.ts";
import { fail, ok, type Failure, type Subject } from "./snapshot-subject.ts";

const at = (text: string) => Date.parse(text);
const refuseTime = (field: string, reason: string) => fail("SNAPSHOT_TIME_REFUSED", field, reason);

export function timesAcceptable(subject: Subject): Failure | null {
  const { header, context } = subject;
  const { local, effective, clockless = false } = context.time;
  const isRoot = SCOPES[header.scope_type].signer === "root";
  if (isTooFarAhead(header.issued_at, context.time, { tellsTime: isRoot }))
    return refuseTime("issued_at", AHEAD_REASON);
  const now = isRoot && clockless ? at(header.issued_at) : local;
  if (at(header.valid_from) > now) return refuseTime("valid_from", `not valid before ${header.valid_from}`);
  // A new epoch may lower the floor; whether it does stands in the content: `expiryAcceptable`.
  if (at(header.expires_at) <= (opensEpoch(subject) ? Math.min(now, effective) : effective))
    return expired(subject);
  if (at(header.refresh_after) > at(header.expires_at))
    return refuseTime("refresh_after", "later than expires_at");
  return ok;
}

const expired = ({ header }: Subject) => refuseTime("expires_at", `expired at ${header.expires_at}`);

const opensEpoch = ({ header, context }: Subject): boolean =>
  SCOPES[header.scope_type].signer === "root" && header.authority_epoch > (context.epoch ?? 0);

/** The second half of check 7: only a bundle that resets the time is valid behind the floor (SNAP-17). */
export function expiryAcceptable(subject: Subject, content: Json): Failure | null {
  const { header, context } = subject;
  if (at(header.expires_at) > context.time.effective) return ok;
  return header.scope_type === "trust_bundle" && resetsTime(content) ? ok : expired(subject);
}

export function resetsTime(content: Json): boolean {
  const parsed = TrustBundle.safeParse(content);
  return parsed.success && parsed.data.recovery?.reason === TIME_RESET;
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
