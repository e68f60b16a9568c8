/** One manifest as it lies on the server: its text, which may be kept as a file and signed from. */
import { ProfileId, UpgradeId } from "../../core/ids.ts";
import { ManifestView } from "../../core/protocol/manifest-api.ts";
import type { Call, Result } from "../call.ts";
import { checked } from "../rollout/checked.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const [profile, upgrade] = [checked(ProfileId, call.args[0]), checked(UpgradeId, call.args[1])];
    const manifest = await api.get(`/api/v1/manifests/${profile}/${upgrade}`, ManifestView);
    const problem = manifest.problem === null ? "" : `\nproblem: ${manifest.problem}`;
    return {
      data: manifest,
      text: manifest.text.trimEnd(),
      notes: `content hash ${manifest.content_hash}${problem}`,
    };
  });
