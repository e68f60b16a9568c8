import { resolve } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { createExclusive } from "../../host/durable-write.ts";
import type { Call, Result } from "../call.ts";
import { specText } from "../model/text.ts";
import { count, optionsOf } from "../options.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";
import { readSnapshot, scopeOf } from "../snapshot/read.ts";

const Options = z.object({
  version: count(0, Number.MAX_SAFE_INTEGER).optional(),
  frame: z.boolean().default(false),
  out: z.string().optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { version, frame, out } = optionsOf(Options, call.options);
    if (frame !== (out !== undefined)) throw new FairleadError("USAGE", "--frame and --out go together");
    const { id } = await resolveNode(api, call.args[0]!);
    const detail = await readSnapshot(api, id, scopeOf(call.args[1]!), { version });
    if (out === undefined) {
      const { frame: _bytes, ...data } = detail;
      return { data, text: specText({ header: detail.header, content: detail.content }) };
    }
    const file = resolve(out);
    const bytes = Buffer.from(detail.frame, "base64");
    const claim = await createExclusive(file, bytes);
    if (claim.kind === "exists") throw new FairleadError("INVALID_INPUT", `--out: ${file} exists already`);
    return { data: { file, bytes: bytes.length, header: detail.header }, text: file };
  });
