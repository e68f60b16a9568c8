/** Bounds per address on what costs us more than it costs the caller. Addresses come from the socket alone. */
import type { RateLimitPluginOptions } from "@fastify/rate-limit";
import { FairleadError } from "../../core/errors.ts";

export const rateLimitOptions: RateLimitPluginOptions = {
  global: false,
  timeWindow: 60_000,
  errorResponseBuilder: (_request, { after }) =>
    new FairleadError("TOO_MANY_REQUESTS", `too many requests from this address: try again in ${after}`),
};

export const limitedPerMinute = (max: number) => ({ config: { rateLimit: { max, timeWindow: 60_000 } } });
