/** What a person must look at, and who has (ROLL-19). */
import { z } from "zod";
import { NodeId, RolloutId } from "../../../core/ids.ts";
import { INCIDENT_STEPS, IncidentCategory, IncidentStatus } from "../../../core/incident/states.ts";
import {
  IncidentId,
  IncidentList,
  IncidentStepRequest,
  IncidentView,
} from "../../../core/protocol/incident-api.ts";
import { listIncidents, readIncident } from "../../incidents/read.ts";
import { stepIncidentRow } from "../../incidents/step.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { pageQuery } from "../page-query.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Incidents"];
const params = z.strictObject({ id: IncidentId });
const listQuery = z.strictObject({
  status: IncidentStatus.exactOptional(),
  category: IncidentCategory.exactOptional(),
  rollout_id: RolloutId.exactOptional(),
  node_id: NodeId.exactOptional(),
  ...pageQuery,
});

export function registerIncidentRoutes(app: ZodApp, { db }: OperatorsDeps): void {
  app.get(
    "/incidents",
    {
      schema: {
        tags,
        summary: "Incidents, newest first",
        querystring: listQuery,
        response: { 200: IncidentList },
      },
    },
    async (request) => listIncidents(db, request.query),
  );

  app.get(
    "/incidents/:id",
    { schema: { tags, summary: "One incident", params, response: { 200: IncidentView } } },
    async (request) => readIncident(db, request.params.id),
  );

  for (const step of INCIDENT_STEPS) {
    app.post(
      `/incidents/:id/${step}`,
      {
        schema: {
          tags,
          summary: step === "acknowledge" ? "Somebody looks at it" : "It is dealt with",
          params,
          body: IncidentStepRequest.nullish(),
          response: { 200: IncidentView },
        },
      },
      async (request) =>
        stepIncidentRow(db, request.params.id, step, principalOf(request).user, request.body ?? {}),
    );
  }
}
