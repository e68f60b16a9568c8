/** Tells TLS that this machine's clock is unset, and the last time that is known for certain (SNAP-17). */
import type { HttpTarget } from "../../host/bounded-http.ts";
import type { TimeWindow } from "../../trust/trusted-keys.ts";

export const undatedWhen = (time: () => TimeWindow): NonNullable<HttpTarget["undated"]> => ({
  isNeeded: () => time().clockless === true,
  notBeforeMs: () => time().effective,
});
