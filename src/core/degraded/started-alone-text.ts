/** A start without the control plane, in the same words everywhere: log, `--status`, `node show`, console, incident. */
import type { StartedAlone } from "../protocol/agent-api.ts";

export const startedAloneText = ({ expired_since }: Pick<StartedAlone, "expired_since">): string =>
  expired_since === null
    ? "started without the control plane"
    : `started on expired authority since ${expired_since}`;
