/** An enrollment key: the server's secret inside pins that this machine knows by itself, as in a token for one node. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import {
  EnrollmentKeyCreate,
  EnrollmentKeyCreated,
  EnrollmentKeyView,
} from "../../core/protocol/enrollment-key-api.ts";
import type { Call, Result } from "../call.ts";
import { tokenAround } from "../enrollment-token.ts";
import { keepSecret } from "../keep-secret.ts";
import { DurationMs, KeyValues, optionsOf } from "../options.ts";
import { pinsOf } from "../pins.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  uses: z.coerce.number(),
  profile: z.array(z.string()),
  type: z.string(),
  label: KeyValues,
  role: z.array(z.string()),
  nameTemplate: z.string(),
  approve: z.boolean().default(false),
  expires: DurationMs,
  out: z.string().optional(),
  reason: z.string().optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const pins = pinsOf(session);
    const request = checked(call.args[0]!, options);
    const { api } = session;
    const made = await api.post("/api/v1/enrollment-keys", request, EnrollmentKeyCreated);
    const { enrollment_key: key, secret } = made;
    const token = tokenAround(pins, secret);
    const data = { enrollment_key: key, enroll_url: pins.enroll_url };
    const notes = [
      `up to ${key.uses_max} machines enroll at ${pins.enroll_url} with key ${key.name} until ${key.expires_at}`,
      ...(key.needs_approval ? ["each waits for `fairlead node approve`"] : []),
    ].join("\n");
    if (options.out === undefined) return { data: { ...data, token }, text: token, notes };
    const file = await keepSecret(options.out, token, () =>
      api.post(`/api/v1/enrollment-keys/${key.id}/revoke`, {}, EnrollmentKeyView),
    );
    return { data: { ...data, token_file: file }, text: file, notes };
  });

function checked(name: string, options: z.infer<typeof Options>): EnrollmentKeyCreate {
  const request = EnrollmentKeyCreate.safeParse({
    name,
    name_template: options.nameTemplate,
    chain_profile_ids: options.profile,
    node_type: options.type,
    labels: options.label,
    ...(options.role.length === 0 ? {} : { roles: options.role }),
    uses_max: options.uses,
    expires_in_seconds: Math.ceil(options.expires / 1000),
    needs_approval: options.approve,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  });
  if (request.success) return request.data;
  const { path, message } = request.error.issues[0]!;
  throw new FairleadError("USAGE", `${FLAG_OF[String(path[0])] ?? String(path[0])}: ${message}`);
}

const FLAG_OF: Readonly<Record<string, string>> = {
  name_template: "--name-template",
  chain_profile_ids: "--profile",
  node_type: "--type",
  labels: "--label",
  roles: "--role",
  uses_max: "--uses",
  expires_in_seconds: "--expires",
  reason: "--reason",
};
