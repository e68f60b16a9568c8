/**
 * An enrollment token: the server's secret inside pins that this machine knows by itself.
 * A server that lies about its CA or its root cannot make a token that says so.
 */
import { resolve } from "node:path";
import { z } from "zod";
import { EnrollmentTokenResponse } from "../../core/protocol/operator-api.ts";
import { createExclusive } from "../../host/durable-write.ts";
import { FairleadError } from "../../core/errors.ts";
import type { Call, Result } from "../call.ts";
import { tokenAround } from "../enrollment-token.ts";
import { DurationMs, KeyValues, optionsOf } from "../options.ts";
import { pinsOf } from "../pins.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  name: z.string(),
  profile: z.array(z.string()),
  type: z.string(),
  label: KeyValues,
  role: z.array(z.string()),
  expires: DurationMs,
  out: z.string().optional(),
  reason: z.string().optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const pins = pinsOf(session);
    const body = {
      name: options.name,
      chain_profile_ids: options.profile,
      node_type: options.type,
      labels: options.label,
      ...(options.role.length === 0 ? {} : { roles: options.role }),
      expires_in_seconds: Math.ceil(options.expires / 1000),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    };
    const { node_id, secret, expires_at } = await session.api.post(
      "/api/v1/enrollment-tokens",
      body,
      EnrollmentTokenResponse,
    );
    const token = tokenAround(pins, secret);
    const made = { node_id, name: options.name, expires_at, enroll_url: pins.enroll_url };
    const notes = `node ${options.name} (${node_id}) enrolls at ${pins.enroll_url}, once, until ${expires_at}`;
    if (options.out === undefined) return { data: { ...made, token }, text: token, notes };
    const file = resolve(options.out);
    await writeToken(file, token);
    return { data: { ...made, token_file: file }, text: file, notes };
  });

async function writeToken(file: string, token: string): Promise<void> {
  const claim = await createExclusive(file, `${token}\n`);
  if (claim.kind === "exists") throw new FairleadError("INVALID_INPUT", `--out: ${file} exists already`);
}
