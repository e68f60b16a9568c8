import { FairleadError } from "../../core/errors.ts";
import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const number = call.args[0]!;
    if (!/^\d{1,15}$/.test(number))
      throw new FairleadError(
        "USAGE",
        `${JSON.stringify(number)} is no number: see \`fairlead revocation list\``,
      );
    await api.delete(`/api/v1/revocations/${number}`);
    return { data: { seq: Number(number), lifted: true }, text: `revocation ${number} is lifted` };
  });
