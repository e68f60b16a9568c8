import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { diffJson } from "../../trust/json-diff.ts";
import type { Call, Result } from "../call.ts";
import { count, optionsOf } from "../options.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";
import { differenceLines } from "../snapshot/difference.ts";
import { readSnapshot, scopeOf } from "../snapshot/read.ts";
import { versionText } from "../snapshot/text.ts";

const Version = count(0, Number.MAX_SAFE_INTEGER).optional();
const Options = z.object({ from: Version, to: Version });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { from, to } = optionsOf(Options, call.options);
    const { id } = await resolveNode(api, call.args[0]!);
    const scope = scopeOf(call.args[1]!);
    const later = await readSnapshot(api, id, scope, { version: to });
    const reached = { epoch: later.header.authority_epoch, version: later.header.config_version };
    const at = later.versions.findIndex(
      ({ epoch, version }) => epoch === reached.epoch && version === reached.version,
    );
    const base = from === undefined ? later.versions[at + 1] : { version: from };
    if (base === undefined)
      throw new FairleadError("NOT_FOUND", `nothing is kept of ${scope} before version ${reached.version}`);
    const earlier = await readSnapshot(api, id, scope, base);
    const begin = { epoch: earlier.header.authority_epoch, version: earlier.header.config_version };
    const [before, after] = [earlier.content as Json, later.content as Json];
    const lines = differenceLines(before, after);
    const paint = (line: string) => call.paint(line.startsWith("+") ? "green" : "red", line);
    return {
      data: { scope, from: begin, to: reached, operations: diffJson(before, after) },
      text: [
        `${scope} from version ${versionText(begin)} to ${versionText(reached)}`,
        ...lines.map(paint),
      ].join("\n"),
      ...(lines.length === 0 ? { notes: "the content is the same: it was only signed anew" } : {}),
    };
  });
