/** Messages without the keys that a control plane of protocol 1 refuses: it reads them strictly. */
import type { Heartbeat, ReportRequest } from "../../core/protocol/agent-api.ts";

export const olderHeartbeat = ({ instance: _instance, programs, ...rest }: Heartbeat): Heartbeat => ({
  ...rest,
  programs: programs.map(({ started_alone: _startedAlone, ...program }) => program),
});

export const olderReports = ({ heartbeat, reports }: ReportRequest): ReportRequest => ({
  reports,
  heartbeat: heartbeat === null ? null : olderHeartbeat(heartbeat),
});
