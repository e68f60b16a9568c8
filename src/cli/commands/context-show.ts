/** Everything but the API key: with `--json`, what `login --pins` takes on another operator's machine. */
import type { Call, Result } from "../call.ts";
import { contextStore } from "../context.ts";
import { fields } from "../output.ts";

export async function run({ io, args }: Call): Promise<Result> {
  const { name, context } = await contextStore(io.env).load(args[0]);
  const { server, pins, release_key_file } = context;
  const text = fields([
    ["context", name],
    ["server", server],
    ["cluster", pins?.cluster_id ?? "no pins: this context cannot make tokens or sign intents"],
    ["CA pin", pins?.ca_pin ?? null],
    ["root pin", pins?.root_pin ?? null],
    ["bundle", pins === null ? null : `version ${pins.min_bundle_version} or newer`],
    ["enroll at", pins?.enroll_url ?? null],
    ["release key", release_key_file ?? "none: rollouts are sent unsigned"],
  ]);
  return { data: { name, server, pins, release_key_file }, text };
}
