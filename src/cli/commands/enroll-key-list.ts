import type { EnrollmentKeyView } from "../../core/protocol/enrollment-key-api.ts";
import type { Call, Result } from "../call.ts";
import { emptyNote } from "../empty-note.ts";
import { listEnrollmentKeys } from "../enroll-key/find.ts";
import { table } from "../output.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const keys = await listEnrollmentKeys(api);
    const none = "no enrollment key: make one with `fairlead node enroll-key create`";
    if (keys.length === 0)
      return { data: { enrollment_keys: keys }, text: "", notes: emptyNote("enrollment key", {}, none) };
    const text = table(["NAME", "ID", "USED", "WAITING", "PROFILES", "UNTIL", "STATE"], keys.map(rowOf));
    return { data: { enrollment_keys: keys }, text };
  });

const rowOf = (key: EnrollmentKeyView): string[] => [
  key.name,
  key.id.slice(0, 8),
  `${key.uses} of ${key.uses_max}`,
  key.needs_approval ? String(key.pending) : "-",
  key.chain_profile_ids.join(", "),
  key.expires_at,
  key.ended?.replace("_", " ") ?? "open",
];
