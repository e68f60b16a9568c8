import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { LIFTABLE_KINDS, RevocationRequest, type LiftableKind } from "../../core/model/revocation.ts";
import { RESOURCE_VIEWS, RevocationView } from "../../core/protocol/model-api.ts";
import type { Api } from "../api.ts";
import type { Call, Result } from "../call.ts";
import { pathOf } from "../model/kind.ts";
import { revocationWords } from "../model/revocation-text.ts";
import { optionsOf } from "../options.ts";
import { resolveNode, resolveRollout } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  node: z.string().optional(),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { node, reason } = optionsOf(Options, call.options);
    const kind = LIFTABLE_KINDS.find((each) => each === call.args[0])!;
    const wish = RevocationRequest.safeParse({
      kind,
      subject: await subjectOf(api, kind, call.args[1]!),
      node_id: node === undefined ? null : (await resolveNode(api, node)).id,
      reason: reason ?? null,
    });
    if (!wish.success) throw new FairleadError("USAGE", `${call.args[1]!}: ${wish.error.issues[0]!.message}`);
    const revocation = await api.post("/api/v1/revocations", wish.data, RevocationView);
    const text = `${revocationWords(revocation)}: the nodes learn of it with their next head`;
    return { data: revocation, text };
  });

/** People say names; heads carry ids. */
async function subjectOf(api: Api, kind: LiftableKind, word: string): Promise<string> {
  if (kind === "peer") return (await resolveNode(api, word)).id;
  if ((kind === "artifact" || kind === "run") && !word.startsWith("sha256:"))
    return (await resolveRollout(api, word)).id;
  if (kind !== "storage_endpoint" || /^[0-9a-f-]{36}$/.test(word)) return word;
  return (await api.get(pathOf("storage-endpoint", word), RESOURCE_VIEWS["storage-endpoint"])).id;
}
