import { z } from "zod";
import { EnrollmentKeyView } from "../../core/protocol/enrollment-key-api.ts";
import type { Call, Result } from "../call.ts";
import { resolveEnrollmentKey } from "../enroll-key/find.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ reason: z.string().optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { reason } = optionsOf(Options, call.options);
    const { id } = await resolveEnrollmentKey(api, call.args[0]!);
    const body = reason === undefined ? {} : { reason };
    const key = await api.post(`/api/v1/enrollment-keys/${id}/revoke`, body, EnrollmentKeyView);
    const text = `enrollment key ${key.name} (${key.id}) is revoked; the nodes that enrolled with it stay`;
    return { data: key, text };
  });
