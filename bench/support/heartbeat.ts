/** What an agent with one program says of itself: the body that both sides of a comparison get. */
import { ProfileId, Digest } from "../../src/core/ids.ts";
import type { AppliedVersions, Heartbeat } from "../../src/core/protocol/agent-api.ts";
import { digestOf } from "../../src/trust/digest.ts";
import { PROFILE } from "./enroll.ts";

export const BEFORE = { version: "1.0.0", fingerprint: digestOf("version 1") } as const;
export const AFTER = { version: "2.0.0", fingerprint: digestOf("version 2") } as const;
export const LATER = { version: "3.0.0", fingerprint: digestOf("version 3") } as const;

const profile = ProfileId.parse(PROFILE);
const startedAt = new Date().toISOString();

export const heartbeatOf = (
  running: { readonly version: string; readonly fingerprint: string },
  applied: AppliedVersions,
): Heartbeat => ({
  at: new Date().toISOString(),
  agent_version: "0.1.0",
  applied,
  programs: [
    {
      chain_profile_id: profile,
      application_health: "ok",
      sync_status: "synced",
      running_fingerprint: Digest.parse(running.fingerprint),
      installed_fingerprint: Digest.parse(running.fingerprint),
      version: running.version,
      instance_id: "provisioned.forward.1.1",
      started_at: startedAt,
      restarts: 0,
    },
  ],
  last_rejection: null,
});
