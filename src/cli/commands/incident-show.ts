import type { Call, Result } from "../call.ts";
import { resolveIncident } from "../incident/find.ts";
import { incidentText } from "../incident/text.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const incident = await resolveIncident(api, call.args[0]!);
    return { data: incident, text: incidentText(incident) };
  });
