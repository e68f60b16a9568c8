/** A stolen key: no node believes it from the moment it holds the bundle. Nobody is waited for. */
import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import { KeyList } from "../../core/protocol/keys-api.ts";
import type { BundleChange } from "../../trust/bundle-draft.ts";
import type { Call, Result } from "../call.ts";
import { changeBundle, ChangeOptions, openNewest } from "../keys/change.ts";
import { pickKey } from "../keys/pick-key.ts";
import { onlineScopes, validityFrom } from "../keys/validity.ts";
import { count, optionsOf } from "../options.ts";
import { withSession, type Session } from "../session.ts";
import { proposedKey } from "./keys-introduce.ts";

const Options = z.object({
  reason: z.string().min(1).max(LIMITS.reasonCharsMax),
  threshold: count(1, 16).optional(),
  ...ChangeOptions,
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const key = await pickKey(session.api, call.args[0]!);
    const newest = await openNewest(call, session);
    const replaces = key.authority === "online" && key.state === "active" && !(await hasSuccessor(session));
    const replacement = replaces ? await replacementFor(call, session, options.validDays) : [];
    const { threshold, reason } = options;
    return changeBundle(call, session, {
      options,
      newest,
      changes: [
        ...replacement,
        { kind: "revoke", keyId: key.key_id, ...(threshold === undefined ? {} : { threshold }) },
      ],
      reason,
      data: { key_id: key.key_id, authority: key.authority },
    });
  });

async function hasSuccessor({ api }: Session): Promise<boolean> {
  const { keys } = await api.get("/api/v1/keys", KeyList);
  return keys.some((key) => key.authority === "online" && key.state === "introduced");
}

/** The control plane must be able to sign at once, so its new key comes in the same bundle. */
async function replacementFor(call: Call, session: Session, validDays: number): Promise<BundleChange[]> {
  const record = await proposedKey(session, undefined);
  const key = { ...record, ...validityFrom(call.io.now(), validDays), scopes: onlineScopes() };
  return [{ kind: "introduce", authority: "online", key }];
}
