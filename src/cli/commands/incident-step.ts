/** acknowledge and resolve: somebody looks at it, and somebody has mended it. */
import { z } from "zod";
import type { IncidentStep } from "../../core/incident/states.ts";
import { LIMITS } from "../../core/limits.ts";
import { IncidentView } from "../../core/protocol/incident-api.ts";
import type { Call, Result } from "../call.ts";
import { resolveIncident } from "../incident/find.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ note: z.string().max(LIMITS.reasonCharsMax).optional() });

export const incidentCommand = (step: IncidentStep) => ({
  run: (call: Call): Promise<Result> =>
    withSession(call, async ({ api }) => {
      const { note } = optionsOf(Options, call.options);
      const { id } = await resolveIncident(api, call.args[0]!);
      const body = note === undefined ? {} : { note };
      const incident = await api.post(`/api/v1/incidents/${id}/${step}`, body, IncidentView);
      return { data: incident, text: `incident ${id} is ${incident.status}` };
    }),
});
