/**
 * A new key into the trust bundle. An online key is made by the server, which hands out its public half only; any other
 * was made elsewhere and comes as a file.
 */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Name, ProfileId } from "../../core/ids.ts";
import { KeyView } from "../../core/protocol/keys-api.ts";
import { loadPublicKey } from "../../trust/keys.ts";
import type { BundleChange } from "../../trust/bundle-draft.ts";
import type { Call, Result } from "../call.ts";
import { changeBundle, ChangeOptions, openNewest } from "../keys/change.ts";
import { readPublicKey } from "../keys/public-key.ts";
import { onlineScopes, validityFrom } from "../keys/validity.ts";
import { count, optionsOf } from "../options.ts";
import { withSession, type Session } from "../session.ts";

const Options = z.object({
  authority: z.enum(["online", "release", "publisher", "root"]),
  name: Name.optional(),
  publicKey: z.string().optional(),
  profiles: z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(ProfileId))
    .optional(),
  algorithm: z.enum(["RS256", "RSA-PSS"]).optional(),
  threshold: count(1, 16).optional(),
  ...ChangeOptions,
});
type Options = z.infer<typeof Options>;

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    refuseStrayOptions(options);
    const newest = await openNewest(call, session);
    const change = await changeOf(call, session, options);
    const { key_id } = change.key;
    return changeBundle(call, session, {
      options,
      newest,
      changes: [change],
      data: { key_id, authority: options.authority },
      ...(options.authority === "online" ? { next: `fairlead keys promote ${key_id.slice(0, 12)}` } : {}),
    });
  });

function refuseStrayOptions({ authority, publicKey, profiles, algorithm, threshold }: Options): void {
  const isMadeElsewhere = authority !== "online";
  if (isMadeElsewhere !== (publicKey !== undefined))
    throw new FairleadError(
      "USAGE",
      isMadeElsewhere
        ? "--public-key: name the file of the new key's public half"
        : "--public-key: online keys are made by the server",
    );
  if (profiles !== undefined && authority !== "release" && authority !== "publisher")
    throw new FairleadError("USAGE", "--profiles: only release and publisher keys are bound to profiles");
  if (algorithm !== undefined && !isMadeElsewhere)
    throw new FairleadError("USAGE", "--algorithm: online keys are Ed25519");
  if (threshold !== undefined && authority !== "root")
    throw new FairleadError("USAGE", "--threshold: it belongs to the root keys");
}

type Introduction = Extract<BundleChange, { kind: "introduce" }>;

async function changeOf(call: Call, session: Session, options: Options): Promise<Introduction> {
  const kind = "introduce";
  const validity = validityFrom(call.io.now(), options.validDays);
  if (options.authority === "online") {
    const key = { ...(await proposedKey(session, options.name)), ...validity, scopes: onlineScopes() };
    return { kind, authority: "online", key };
  }
  const record = await readPublicKey("--public-key", options.publicKey!, options.algorithm);
  if (options.algorithm !== undefined && record.algorithm !== options.algorithm)
    throw new FairleadError(
      "USAGE",
      `--algorithm: the key is ${record.algorithm}, and signs in one way only`,
    );
  if (options.authority === "root") {
    const { threshold } = options;
    return { kind, authority: "root", key: record, ...(threshold === undefined ? {} : { threshold }) };
  }
  const name = options.name ?? `${options.authority}-${record.key_id.slice(0, 8)}`;
  const key = { ...record, ...validity, name, profiles: options.profiles ?? [] };
  return { kind, authority: options.authority, key };
}

/** The server's answer is data: that the id is the hash of the bytes, and the bytes are a key, is checked here. */
export async function proposedKey({ api }: Session, name: string | undefined) {
  const made = await api.post("/api/v1/keys", { name: name ?? "online" }, KeyView);
  const record = { key_id: made.key_id, algorithm: made.algorithm, public_key: made.public_key };
  loadPublicKey(record);
  return record;
}
