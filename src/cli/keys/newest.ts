/** The newest trust bundle of a site: this machine's copy or the server's, whichever is newer, both verified. */
import { FairleadError } from "../../core/errors.ts";
import { BundleView } from "../../core/protocol/keys-api.ts";
import { isNewer, versionOf } from "../../core/snapshot/envelope.ts";
import type { Io } from "../io.ts";
import { pinsOf } from "../pins.ts";
import type { Session } from "../session.ts";
import { believeAfter, believeByPin, openBundle, type BelievedBundle } from "./believe.ts";
import { keepCopy, readCopy } from "./bundle-copy.ts";

export interface NewestBundle {
  readonly bundle: BelievedBundle;
  readonly server: BundleView;
  /** The server holds an older one: its database was restored, or it hides what is newer. */
  readonly serverIsBehind: boolean;
}

export async function newestBundle(session: Session, { env }: Io): Promise<NewestBundle> {
  const pins = pinsOf(session);
  const server = await session.api.get("/api/v1/trust/bundles/newest", BundleView);
  const theirs = Buffer.from(server.trust_bundle, "base64");
  const copy = await readCopy(env, session.name);
  if (copy === undefined) {
    const bundle = believeByPin(theirs, pins);
    if (bundle.header.config_version < pins.min_bundle_version)
      throw new FairleadError(
        "BUNDLE_REFUSED",
        `the server holds bundle ${bundle.header.config_version}, and ${pins.min_bundle_version} is known to exist`,
      );
    await keepCopy(env, session.name, bundle, null);
    return { bundle, server, serverIsBehind: false };
  }
  const ours = believeByPin(copy, pins);
  const claimed = openBundle(theirs).header;
  if (isNewer(versionOf(claimed), versionOf(ours.header))) {
    const bundle = believeAfter(theirs, ours);
    await keepCopy(env, session.name, bundle, ours);
    return { bundle, server, serverIsBehind: false };
  }
  const isSame =
    claimed.authority_epoch === ours.header.authority_epoch &&
    claimed.config_version === ours.header.config_version;
  if (isSame && claimed.content_hash !== ours.header.content_hash)
    throw new FairleadError(
      "BUNDLE_REFUSED",
      `the server holds another bundle ${claimed.config_version} than the one known here: two were signed`,
    );
  return { bundle: ours, server, serverIsBehind: !isSame };
}

export const BEHIND =
  "the server's trust bundle is older than the one known here: if its database was restored, run `fairlead authority new-epoch --reason database_restored`";
