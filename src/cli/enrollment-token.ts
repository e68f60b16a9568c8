/** The server's secret inside pins that this machine knows by itself: a server that lies about its CA or its root cannot say so. */
import { FairleadError } from "../core/errors.ts";
import { EnrollmentToken, formatToken } from "../trust/pins.ts";
import type { Pins } from "./context.ts";

export function tokenAround(pins: Pins, secret: string): string {
  const token = EnrollmentToken.safeParse({
    clusterId: pins.cluster_id,
    caPin: pins.ca_pin,
    rootPin: pins.root_pin,
    minBundleVersion: pins.min_bundle_version,
    secret,
  });
  if (token.success) return formatToken(token.data);
  throw new FairleadError("UNREACHABLE", "the server's enrollment secret has not the form of one");
}
