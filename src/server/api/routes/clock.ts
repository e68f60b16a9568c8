/** The clocks of the control plane: an operator says that they are right. */
import { ConfirmTimeRequest, TimeConfirmed } from "../../../core/protocol/clock-api.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import type { ZodApp } from "../zod-app.ts";

export function registerClockRoutes(app: ZodApp, { confirmTime }: OperatorsDeps): void {
  app.post(
    "/authority/confirm-time",
    {
      schema: {
        tags: ["Keys"],
        summary: "Confirm the time, so that signing goes on after clocks disagreed",
        body: ConfirmTimeRequest,
        response: { 200: TimeConfirmed },
      },
    },
    async (request) => confirmTime(request.body, principalOf(request).user),
  );
}
