/**
 * A signed bundle leaves this machine: to the server when enough root keys signed it, else into a file for the others.
 *
 * 1. What no node would take is not uploaded.
 * 2. This machine's own copy is replaced after the server has taken it.
 */
import { resolve } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { shortKey } from "../../core/keys/standing.ts";
import type { NodeId } from "../../core/ids.ts";
import { BundleTaken } from "../../core/protocol/keys-api.ts";
import { createExclusive } from "../../host/durable-write.ts";
import type { Call, Result } from "../call.ts";
import type { Session } from "../session.ts";
import { believeAfter, type BelievedBundle } from "./believe.ts";
import { keepCopy } from "./bundle-copy.ts";
import { describeBundle } from "./describe.ts";
import { missingSignatures, type Missing } from "./draft.ts";

export interface Finish {
  readonly bundle: BelievedBundle;
  readonly before: BelievedBundle;
  readonly abandon: readonly NodeId[];
  readonly reason?: string | undefined;
  /** Where it goes when signatures are missing. */
  readonly out?: string | undefined;
  /** Said beside the outcome. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly next?: string;
}

export async function finish(call: Call, session: Session, wish: Finish): Promise<Result> {
  const { bundle, before } = wish;
  const missing = missingSignatures(bundle.frame, before.content.root, bundle.content.root);
  if (missing.count > 0) return handOver(wish, missing);
  const taken = await upload(call, session, wish);
  const { epoch, version } = taken;
  return {
    data: { published: true, ...taken, ...wish.data },
    text: `trust bundle ${version} of epoch ${epoch} is published${wish.next === undefined ? "" : `\nnext: ${wish.next}`}`,
    notes: describeBundle(bundle, before).join("\n"),
  };
}

async function upload(call: Call, session: Session, wish: Finish): Promise<BundleTaken> {
  const { bundle, before, abandon, reason } = wish;
  believeAfter(bundle.frame, before); // (1)
  const body = {
    trust_bundle: bundle.frame.toString("base64"),
    abandon,
    ...(reason === undefined ? {} : { reason }),
  };
  const taken = await session.api.post("/api/v1/trust/bundles", body, BundleTaken);
  await keepCopy(call.io.env, session.name, bundle, before); // (2)
  return taken;
}

async function handOver({ bundle, before, out, data }: Finish, missing: Missing): Promise<Result> {
  const version = bundle.header.config_version;
  const file = resolve(out ?? `trust-bundle-${version}.bundle`);
  const claim = await createExclusive(file, bundle.frame);
  if (claim.kind === "exists") throw new FairleadError("INVALID_INPUT", `--out: ${file} exists already`);
  const plural = missing.count === 1 ? "signature is" : "signatures are";
  return {
    data: { published: false, version, file, missing: missing.count, missing_of: missing.of, ...data },
    text: file,
    notes: [
      ...describeBundle(bundle, before),
      `${missing.count} more root ${plural} needed, of: ${missing.of.map(shortKey).join(", ")}`,
      `next: fairlead root sign ${file} on the machines that hold them, then fairlead root publish ${file}`,
    ].join("\n"),
  };
}
