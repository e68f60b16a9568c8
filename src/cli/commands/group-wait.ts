/** Waits for a group, for scripts: the exit code says how it stands. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { Call, Result } from "../call.ts";
import { exitOfGroup, groupEnded } from "../group/ending.ts";
import { resolveGroup } from "../group/find.ts";
import { followGroup } from "../group/follow.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";
import { WaitOptions } from "../signals/wait-options.ts";

const Options = z.object(WaitOptions);

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const options = optionsOf(Options, call.options);
    const signal = AbortSignal.timeout(options.timeout);
    let group = await resolveGroup(api, call.args[0]!);
    const isMet = (): boolean =>
      groupEnded(group.status) || (options.for === "paused" && group.status === "paused");
    if (!isMet()) {
      for await (const newer of followGroup(api, group, signal)) {
        group = newer;
        if (isMet()) break;
      }
    }
    const { id, status, why } = group;
    const because = why === null ? "" : `  ${why.code}: ${why.text}`;
    if (!isMet())
      throw new FairleadError("TIMEOUT", `group ${id} is still ${status}${because}`, {
        group_id: id,
        status,
        why,
      });
    return { data: group, text: `group ${id} ${status}${because}`, exit: exitOfGroup(status) };
  });
