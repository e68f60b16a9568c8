/** The manifests that a server has. A broken one is listed with what is wrong. */
import { z } from "zod";
import { ProfileId } from "../../core/ids.ts";
import { ManifestList } from "../../core/protocol/manifest-api.ts";
import type { Call, Result } from "../call.ts";
import { emptyNote } from "../empty-note.ts";
import { optionsOf } from "../options.ts";
import { table } from "../output.ts";
import { everyPage, queryOf } from "../pages.ts";
import { withSession } from "../session.ts";

const Options = z.object({ profile: ProfileId.optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { profile } = optionsOf(Options, call.options);
    const manifests = await everyPage(async (page) => {
      const query = queryOf({ chain_profile_id: profile, ...page });
      const list = await api.get(`/api/v1/manifests?${query}`, ManifestList);
      return { items: list.manifests, next: list.next_cursor };
    });
    const rows = manifests.map((manifest) => [
      manifest.chain_profile_id,
      manifest.upgrade_id,
      manifest.target_version ?? "-",
      manifest.runtime ?? "-",
      manifest.migration_type ?? "-",
      manifest.problem ?? "",
    ]);
    const head = ["PROFILE", "UPGRADE", "VERSION", "RUNTIME", "MIGRATION", "PROBLEM"];
    if (rows.length > 0) return { data: { manifests }, text: table(head, rows) };
    return { data: { manifests }, text: "", notes: emptyNote("manifest", { profile }, "no manifest") };
  });
