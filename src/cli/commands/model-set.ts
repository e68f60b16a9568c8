import { z } from "zod";
import { RESOURCE_VIEWS } from "../../core/protocol/model-api.ts";
import type { Call, Result } from "../call.ts";
import { kindOf, pathOf } from "../model/kind.ts";
import { readSpec } from "../model/spec-file.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ file: z.string().optional(), jsonBody: z.string().optional() });

export async function run(call: Call): Promise<Result> {
  const kind = kindOf(call.args[0]!);
  const path = pathOf(kind, call.args[1]!);
  const spec = await readSpec(kind, optionsOf(Options, call.options));
  return withSession(call, async ({ api }) => {
    const resource = await api.put(path, spec, RESOURCE_VIEWS[kind]);
    return { data: resource, text: `${kind} ${resource.name} is set: nodes it concerns get new snapshots` };
  });
}
